//! The same picture on the CPU, with the device's roundings; reflections by recursion.

use super::{BOUNCES, LIGHT, Scene};

type Vector = [f32; 3];

const NEAR: f32 = 1e-3;
const FAR: f32 = 1e30;

pub(super) fn picture(scene: &Scene) -> Vec<u32> {
    let (width, height) = (scene.width as i32, scene.height as i32);
    let pixel = |i: i32| {
        let way = unit([(i % width - width / 2) as f32, (height / 2 - i / width) as f32, height as f32]);
        let colour = seen(scene, [0.0, 2.0, -8.0], way, BOUNCES);
        colour.iter().rev().fold(0, |word, c| word << 8 | (255.0 * c.min(1.0)) as u32)
    };
    (0..width * height).map(pixel).collect()
}

fn dot(a: Vector, b: Vector) -> f32 {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a + s b
fn along(a: Vector, s: f32, b: Vector) -> Vector {
    [0, 1, 2].map(|k| s.mul_add(b[k], a[k]))
}

fn unit(a: Vector) -> Vector {
    let scale = 1.0 / dot(a, a).sqrt();
    a.map(|c| c * scale)
}

/// How far along the ray the ball is met.
fn meet([x, y, z, square]: [f32; 4], from: Vector, way: Vector) -> Option<f32> {
    let to = minus([x, y, z], from);
    let closest = dot(to, way);
    let outside = to[2].mul_add(to[2], to[1].mul_add(to[1], to[0].mul_add(to[0], -square)));
    let inside = closest.mul_add(closest, -outside);
    if inside <= 0.0 {
        return None;
    }
    let half = inside.sqrt();
    let at = if closest - half > NEAR { closest - half } else { closest + half };
    (at > NEAR).then_some(at)
}

/// The colour of a ray that may still be mirrored so often, less one.
fn seen(scene: &Scene, from: Vector, way: Vector, bounces: usize) -> Vector {
    let (mut nearest, mut met) = (FAR, None);
    for (k, &ball) in scene.balls.iter().enumerate() {
        if let Some(at) = meet(ball, from, way).filter(|&at| at < nearest) {
            (nearest, met) = (at, Some(k));
        }
    }
    let floor = if way[1] < 0.0 { -from[1] / way[1] } else { FAR };
    let (here, normal, look) = if floor > NEAR && floor < nearest && floor < 60.0 {
        let here = along(from, floor, way);
        let dark = (here[0].floor() as i32 + here[2].floor() as i32) & 1 != 0;
        let light = if dark { 0.2 } else { 0.9 };
        (here, [0.0, 1.0, 0.0], [light, light, light, 0.1])
    } else if let Some(k) = met {
        let here = along(from, nearest, way);
        let [x, y, z, _] = scene.balls[k];
        (here, unit(minus(here, [x, y, z])), scene.surfaces[k])
    } else {
        return [0.3, 0.4, 0.6].map(|c| 0.3f32.mul_add(way[1], c));
    };

    let to_light = minus(LIGHT, here);
    let distance = dot(to_light, to_light).sqrt();
    let to_light = unit(to_light);
    let mut lit = dot(to_light, normal);
    if lit > 0.0 && scene.balls.iter().any(|&ball| meet(ball, here, to_light).is_some_and(|at| at < distance)) {
        lit = 0.0;
    }
    let shade = 0.8f32.mul_add(lit.max(0.0), 0.2);
    let own = [look[0] * shade, look[1] * shade, look[2] * shade];
    if look[3] == 0.0 || bounces == 1 {
        return own;
    }
    let mirrored = seen(scene, here, along(way, -2.0 * dot(way, normal), normal), bounces - 1);
    [0, 1, 2].map(|k| look[3].mul_add(mirrored[k] - own[k], own[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_is_met_from_outside_and_from_inside() {
        let ball = [0.0, 0.0, 5.0, 4.0];
        assert_eq!(meet(ball, [0.0; 3], [0.0, 0.0, 1.0]), Some(3.0));
        assert_eq!(meet(ball, [0.0, 0.0, 5.0], [0.0, 1.0, 0.0]), Some(2.0));
        assert_eq!(meet(ball, [0.0; 3], [0.0, 0.0, -1.0]), None);
        assert_eq!(meet(ball, [3.0, 0.0, 0.0], [0.0, 0.0, 1.0]), None);
    }

    #[test]
    fn sky_floor_shadow_and_mirror() {
        let mut scene = Scene { width: 8, height: 8, balls: vec![], surfaces: vec![] };
        let up = unit([0.0, 1.0, 0.0]);
        let near =
            |got: Vector, want: Vector| assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5), "{got:?}");
        near(seen(&scene, [0.0; 3], up, 1), [0.6, 0.7, 0.9]);
        // Straight down on a light square, the light exactly above it.
        let above = [LIGHT[0] + 0.25, 3.0, LIGHT[2] + 0.25];
        let light = seen(&scene, above, [0.0, -1.0, 0.0], 1)[0];
        assert!(light > 0.15);
        // A ball between the square and the light.
        scene.balls.push([LIGHT[0], 5.0, LIGHT[2], 1.0]);
        scene.surfaces.push([1.0, 0.5, 0.0, 1.0]);
        let dark = seen(&scene, above, [0.0, -1.0, 0.0], 1)[0];
        assert!((dark / light - 0.2).abs() < 0.01, "{dark} {light}");
        // A perfect mirror shows the sky: down on the ball, up again.
        near(seen(&scene, [LIGHT[0], 8.0, LIGHT[2]], [0.0, -1.0, 0.0], 2), [0.6, 0.7, 0.9]);
    }

    #[test]
    fn the_picture_shows_sky_floor_and_balls() {
        let picture = picture(&Scene::generate(64, 48, 12));
        let mut colours = picture.clone();
        colours.sort_unstable();
        colours.dedup();
        assert!(colours.len() > 500, "{} colours", colours.len());
        // The sky is bluest in the first row, the floor grey in the last.
        let bluest = |row: &[u32]| row.iter().filter(|&&p| p >> 16 > (p & 0xff) + 20).count();
        assert!(bluest(&picture[..64]) == 64 && bluest(&picture[47 * 64..]) < 32);
    }
}
