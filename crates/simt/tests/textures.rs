//! `tex` (PTX ISA manual, `tex`; CUDA programming guide, "Texture Fetching").

mod harness;
use harness::*;
use warpwatt_simt::device::{Device, TexelFormat, TextureBinding};

fn binding(address: u64, size: [u32; 3], format: TexelFormat, channels: u8) -> TextureBinding {
    TextureBinding {
        address,
        size,
        pitch: (size[0] * channels as u32 * format.bytes()) as u64,
        channels,
        format,
        linear: false,
        normalized: false,
        wrap: false,
        read_normalized: false,
    }
}

/// Fetches by each thread; `body` turns the input word in `%r1` into coordinates and ends with the result in `%r2`.
fn fetch(body: &str, inputs: &[u64], texels: &[u8], change: impl Fn(&mut TextureBinding)) -> Vec<u32> {
    let body = format!(
        "ld.global.v2.u32 {{%r1, %r3}}, [%in]; mov.b32 %f1, %r1; mov.b32 %f2, %r3; {body}
        st.global.u32 [%out], %r2;"
    );
    let input: Vec<u8> = inputs.iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut bench = Bench::new(&module(".global .texref t;", &body), &input);
    let address = bench.device.alloc(texels.len() as u64).unwrap();
    bench.device.write(address, texels).unwrap();
    let mut b = binding(address, [4, 1, 1], TexelFormat::F32, 1);
    change(&mut b);
    bench.device.bind_texture("t", b).unwrap();
    bench.launch([1; 3], [inputs.len() as u32, 1, 1], 0).unwrap_or_else(|e| panic!("{e}"));
    bench.output()[..inputs.len()].iter().map(|&v| v as u32).collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Coordinates as input words.
fn at(points: &[(f32, f32)]) -> Vec<u64> {
    points.iter().map(|(x, y)| x.to_bits() as u64 | (y.to_bits() as u64) << 32).collect()
}

fn line(xs: &[f32]) -> Vec<u64> {
    at(&xs.iter().map(|&x| (x, 0.0)).collect::<Vec<_>>())
}

fn as_floats(bits: Vec<u32>) -> Vec<f32> {
    bits.into_iter().map(f32::from_bits).collect()
}

const ONE: &str = "tex.1d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%f1}]; mov.b32 %r2, %f3;";
const TWO: &str = "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%f1, %f2}]; mov.b32 %r2, %f3;";

#[test]
fn nearest_texels_clamp_to_the_edge() {
    let out = fetch(ONE, &line(&[-3.0, 0.0, 0.99, 1.0, 3.5, 4.0, 1e30, f32::NAN]), &floats(&[1., 2., 3., 4.]), |_| ());
    assert_eq!(as_floats(out), [1., 1., 1., 2., 4., 4., 4., 1.]);
}

#[test]
fn integer_coordinates_are_not_filtered() {
    let body = "tex.1d.v4.f32.s32 {%f3, %f4, %f5, %f6}, [t, {%r1}]; mov.b32 %r2, %f3;";
    let out = fetch(body, &[0, 2, 3, 9, u32::MAX as u64], &floats(&[1., 2., 3., 4.]), |b| b.linear = true);
    assert_eq!(as_floats(out), [1., 3., 4., 4., 1.]);
}

#[test]
fn normalized_coordinates_clamp_or_wrap() {
    let points = line(&[0.0, 0.25, 0.999, 1.0, 1.25, -0.25]);
    let texels = floats(&[1., 2., 3., 4.]);
    let clamp = fetch(ONE, &points, &texels, |b| b.normalized = true);
    assert_eq!(as_floats(clamp), [1., 2., 4., 4., 4., 1.]);
    // The last one lies so little under 0 that its fraction rounds to 1.
    let points = line(&[0.0, 0.25, 0.999, 1.0, 1.25, -0.25, -2e-8]);
    let wrap = fetch(ONE, &points, &texels, |b| (b.normalized, b.wrap) = (true, true));
    assert_eq!(as_floats(wrap), [1., 2., 4., 1., 2., 4., 4.]);
}

#[test]
fn linear_filtering_has_weights_of_eight_bits() {
    let out = fetch(
        ONE,
        &line(&[0.5, 1.0, 1.25, 0.0, 4.0, 0.5 + 1.0 / 1024.0, 0.5 + 3.0 / 1024.0]),
        &floats(&[0., 256., 0., 512.]),
        |b| b.linear = true,
    );
    // 1/1024 is a quarter of a step of the weight, 3/1024 three quarters.
    assert_eq!(as_floats(out), [0., 128., 192., 0., 512., 0., 1.]);
    let wrapped = fetch(ONE, &line(&[0.0]), &floats(&[0., 256., 0., 512.]), |b| {
        (b.linear, b.normalized, b.wrap) = (true, true, true)
    });
    assert_eq!(as_floats(wrapped), [256.]);
}

#[test]
fn two_dimensions_with_a_pitch() {
    let texels = floats(&[1., 2., 3., 4., -1., -1., 5., 6., 7., 8., -1., -1.]);
    let shape = |b: &mut TextureBinding| (b.size, b.pitch) = ([4, 2, 1], 24);
    let out = fetch(TWO, &at(&[(0.0, 0.0), (3.9, 1.9), (9.0, -1.0)]), &texels, shape);
    assert_eq!(as_floats(out), [1., 8., 4.]);
    let out = fetch(TWO, &at(&[(1.0, 1.0), (2.0, 0.5), (0.5, 1.0)]), &texels, |b| {
        shape(b);
        b.linear = true;
    });
    assert_eq!(as_floats(out), [3.5, 2.5, 3.]);
}

#[test]
fn three_dimensions_and_layers() {
    let texels: Vec<f32> = (0..8).map(|v| v as f32).collect();
    let shape = |b: &mut TextureBinding| (b.size, b.pitch) = ([2, 2, 2], 8);
    let three = "mov.f32 %f7, 0f3FC00000; tex.3d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%f1, %f2, %f7, %f7}];
        mov.b32 %r2, %f3;";
    let points = at(&[(0.5, 0.5), (1.5, 0.5), (1.5, 1.5)]);
    assert_eq!(as_floats(fetch(three, &points, &floats(&texels), shape)), [4., 5., 7.]);
    let filtered = "tex.3d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%f1, %f1, %f1, %f1}]; mov.b32 %r2, %f3;";
    let out = fetch(filtered, &line(&[1.0]), &floats(&texels), |b| {
        shape(b);
        b.linear = true;
    });
    assert_eq!(as_floats(out), [3.5]);
    // The layer is an integer and is clamped.
    let layered =
        "mov.u32 %r5, 1; tex.a2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%r5, %f1, %f2, %f2}]; mov.b32 %r2, %f3;";
    assert_eq!(as_floats(fetch(layered, &points, &floats(&texels), shape)), [4., 5., 7.]);
    let beyond = layered.replace("mov.u32 %r5, 1", "mov.u32 %r5, 7");
    assert_eq!(as_floats(fetch(&beyond, &points, &floats(&texels), shape)), [4., 5., 7.]);
}

#[test]
fn faces_of_a_cube() {
    let texels: Vec<f32> = (0..6).map(|v| v as f32).collect();
    let cube = |x: f32, y: f32, z: f32| {
        let body = format!(
            "mov.f32 %f1, {x:?}; mov.f32 %f2, {y:?}; mov.f32 %f7, {z:?};
            tex.cube.v4.f32.f32 {{%f3, %f4, %f5, %f6}}, [t, {{%f1, %f2, %f7, %f7}}]; mov.b32 %r2, %f3;"
        );
        as_floats(fetch(&body, &[0], &floats(&texels), |b| (b.size, b.pitch) = ([1, 1, 6], 4)))[0]
    };
    let faces =
        [cube(2., 1., 1.), cube(-2., 1., 1.), cube(1., 2., 1.), cube(1., -2., 1.), cube(1., 1., 2.), cube(1., 1., -2.)];
    assert_eq!(faces, [0., 1., 2., 3., 4., 5.]);
}

#[test]
fn channels_and_formats() {
    let four = "tex.1d.v4.u32.s32 {%r5, %r6, %r7, %r8}, [t, {%r1}]; mad.lo.u32 %r2, %r6, 256, %r5;
        mad.lo.u32 %r2, %r7, 65536, %r2; mad.lo.u32 %r2, %r8, 16777216, %r2;";
    let bytes = fetch(four, &[0, 1], &[1, 2, 3, 4, 5, 6, 7, 8], |b| {
        (b.size, b.channels, b.format) = ([2, 1, 1], 4, TexelFormat::U8);
    });
    assert_eq!(bytes, [0x0403_0201, 0x0807_0605]);
    // Channels that are not there read zero; `_` takes none.
    let two = "tex.1d.v4.s32.s32 {%r5, _, %r7, %r8}, [t, {%r1}]; add.s32 %r2, %r5, %r7; add.s32 %r2, %r2, %r8;";
    let shorts = fetch(two, &[1], &[0, 0, 0, 0, 0xfe, 0xff, 9, 0], |b| {
        (b.size, b.channels, b.format) = ([2, 1, 1], 2, TexelFormat::S16);
    });
    assert_eq!(shorts[0] as i32, -2);
    let normalized = |format: TexelFormat, texels: &[u8]| {
        as_floats(fetch(ONE, &line(&[0.0, 1.0]), texels, |b| {
            (b.size, b.format, b.read_normalized) = ([2, 1, 1], format, true);
        }))
    };
    assert_eq!(normalized(TexelFormat::U8, &[255, 51]), [1.0, 0.2]);
    assert_eq!(normalized(TexelFormat::S8, &[0x80, 127]), [-1.0, 1.0]);
    assert_eq!(normalized(TexelFormat::U16, &[255, 255, 0, 0]), [1.0, 0.0]);
    assert_eq!(normalized(TexelFormat::S16, &[0, 0x80, 255, 127]), [-1.0, 1.0]);
}

#[test]
fn only_executing_lanes_fetch() {
    let body = "mov.u32 %r2, 9; setp.eq.u32 %p1, %t, 1; mov.f32 %f3, 0f41100000;
        @%p1 tex.1d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%f1}]; mov.b32 %r2, %f3;";
    assert_eq!(as_floats(fetch(body, &line(&[0., 1., 2.]), &floats(&[1., 2., 3., 4.]), |_| ())), [9., 2., 9.]);
}

#[test]
fn bindings_that_mean_nothing_are_faults() {
    let fault = |body: &str, format, change: &dyn Fn(&mut TextureBinding)| {
        let mut bench = Bench::new(&module(".global .texref t;", body), &[0]);
        let mut b = binding(bench.device.alloc(256).unwrap(), [4, 4, 1], format, 1);
        change(&mut b);
        bench.device.bind_texture("t", b).unwrap();
        bench.launch([1; 3], [1; 3], 0).unwrap_err().to_string()
    };
    let cube = "tex.cube.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%f1, %f2, %f1, %f1}];";
    assert!(fault(cube, TexelFormat::F32, &|_| ()).contains("six square faces"));
    assert!(fault(cube, TexelFormat::F32, &|b| b.size = [2, 1, 6]).contains("six square faces"));
    assert!(fault(ONE, TexelFormat::U32, &|b| b.linear = true).contains("linear filtering of integers"));
    assert!(fault(ONE, TexelFormat::U32, &|b| b.read_normalized = true).contains("32 bits"));
}
