//! Texts that are no PTX: each must be refused at the right line, with a message that says what is wrong.

use std::collections::BTreeSet;

use warpwatt_ptx::{ParseError, parse};

/// A text, the line of the first error, and its message.
type Case = (&'static str, u32, &'static str);

/// Whole files.
const FILES: &[Case] = &[
    ("", 1, "the file holds no PTX"),
    ("   \n\n// only a comment\n", 4, "the file holds no PTX"),
    (".target sm_20\n.version 2.0\n", 1, "the file does not begin with `.version`"),
    (".version 7.8\n", 1, "the file names no `.target`"),
    (".version 7\n.target sm_20\n", 1, "expected a PTX version such as `7.8`, but found `7`"),
    (".version 12.0\n.target sm_20\n", 1, "PTX version 12.0 is not known"),
    (".version seven\n.target sm_20\n", 1, "expected a PTX version such as `7.8`, but found `seven`"),
    (".version 7.0\n.target\n.address_size 64\n", 3, "expected a target such as `sm_35`, but found `.address_size`"),
    (".version 7.0\n.target sm_70, 64\n", 2, "expected a target such as `sm_35`, but found `64`"),
    ("MODULE x\n", 1, "an instruction outside of a function's body"),
    ("\u{7f}ELF\u{2}", 1, "expected a directive such as `.entry`, `.func` or `.global`, but found `\\u{7f}`"),
    ("<html>\n<body>\n", 1, "expected a directive such as `.entry`, `.func` or `.global`, but found `<`"),
    (".version 7.0\n.target sm_70\n.address_size 48\n", 3, "an address size of 48 bits"),
    (".version 7.0\n.target sm_70\n.address_size\n", 4, "expected 32 or 64, but the file ends"),
    (".version 7.0\n.target sm_70\n/* never closed\n.entry k() { ret; }\n", 3, "this comment is never closed"),
    (".version 7.0\n.target sm_70\n.file \"a.cu\" 1\n", 3, "expected a file number, but found `\"a.cu\"`"),
    (".version 7.0\n.target sm_70\n.file 1 a.cu\n", 3, "expected the file's path in quotes, but found `a`"),
    (".version 7.0\n.target sm_70\n.file 1 \"a.cu\n", 3, "this string is never closed"),
];

/// Items of a module, the first on line 4.
const ITEMS: &[Case] = &[
    (".entri k() { ret; }", 4, "unknown directive `.entri`"),
    (".visible k() { ret; }", 4, "expected `.entry`, `.func` or a state space, but found `k`"),
    (".entry () { ret; }", 4, "a kernel returns nothing"),
    (".entry k( { ret; }", 4, "expected `.param` or `.reg`, but found `{`"),
    (".entry k(.param .u32) { ret; }", 4, "expected the variable's name, but found `)`"),
    (".entry k(.param u32 a) { ret; }", 4, "expected a type such as `.b32`, but found `u32`"),
    (".entry k(.u32 a) { ret; }", 4, "expected `.param` or `.reg`, but found `.u32`"),
    (".entry k(.param .u32 a .param .u32 b) { ret; }", 4, "expected `,` or `)`, but found `.param`"),
    (".entry k(.param .u32 a, .param .u32 a) { ret; }", 4, "a second parameter named `a`"),
    (".entry (.param .u32 r) k() { ret; }", 4, "a kernel returns nothing"),
    (".entry k() {\n ret;\n", 7, "the file ends within the body of `k`"),
    (".entry k() { ret; } }", 4, "this `}` closes nothing"),
    (".entry k() { ret; }\n.entry k() { ret; }", 5, "`k` is defined twice"),
    (".func f(.param .u32 a);\n.func f() { ret; }", 5, "`f` was declared with other parameters before"),
    (".func f();\n.entry f() { ret; }", 5, "`f` is `.entry` in one place and `.func` in another"),
    (".global .u32 x;\n.func x() { ret; }", 5, "`x` is already a variable"),
    (".func x() { ret; }\n.global .u32 x;", 5, "`x` is already a function"),
    (".global .u32 x;\n.global .u32 x;", 5, "`x` is defined twice"),
    (".extern .global .u32 x;\n.shared .u32 x;", 5, "`x` was declared in another state space before"),
    (".global x;", 4, "expected a type such as `.b32`, but found `x`"),
    (".global .u33 x;", 4, "expected a type, but found `.u33`"),
    (".global .u32 .s32 x;", 4, "a second type `.s32` after `.u32`"),
    (".global .u32 ;", 4, "expected the variable's name, but found `;`"),
    (".global .u32 x", 5, "expected `;` behind the declaration, but the file ends"),
    (".global .u32 x y;", 4, "expected `;` behind the declaration, but found `y`"),
    (".global .align 3 .u32 x;", 4, "an alignment of 3 bytes"),
    (".global .align .u32 x;", 4, "expected an alignment in bytes, but found `.u32`"),
    (".global .u32 x[4;", 4, "expected `]`, but found `;`"),
    (".global .u32 x[-1];", 4, "expected an array length, but found `-`"),
    (".global .u32 x[4][];", 4, "only the first dimension may be left open"),
    (".global .u32 x[1][1][1][1][1][1][1][1][1];", 4, "an array of more than 8 dimensions"),
    (".global .u64 x[1099511627776];", 4, "the array is too large"),
    (".global .v4 .f64 x;", 4, "a vector of 4 × .f64 is longer than 128 bits"),
    (".global .u32 x[2] = {1, 2, 3};", 4, "more initial values than the 2 that fit here"),
    (".global .u32 x[2] = {{1}, 2};", 4, "this list is nested deeper than the array has dimensions"),
    (".global .u32 x = {1, 2};", 4, "expected `}`, but found `,`"),
    (".global .u32 x[2] = 1;", 4, "expected `{`, but found `1`"),
    (".global .u32 x = ;", 4, "expected an initial value, but found `;`"),
    (".global .u32 x = y;", 4, "`y` is not declared in this module"),
    (".global .u64 x = generic(nothing);", 4, "`nothing` is not declared in this module"),
    (".global .f32 a; .global .f32 x = a;", 4, "an address does not fit into an element of type .f32"),
    (".global .u8 a; .global .u8 x = a;", 4, "an address does not fit into an element of type .u8"),
    (".global .u8 a; .global .u8 x = 0xF0F(a);", 4, "the mask 0xf0f does not cut out 1 whole bytes"),
    (".shared .u32 s = 5;", 4, "an initial value of a variable in .shared"),
    (".global .f16 h = 0x3C00;", 4, "an initial value of a variable of type .f16"),
    (".global .f16x2 h[2] = {1, 2};", 4, "an initial value of a variable of type .f16x2"),
    (
        ".shared .u32 s;\n.global .u64 x = s;",
        5,
        "the initial value of `x` is the address of `s`, which lies in .shared",
    ),
    (".func f() { ret; }\n.global .u64 x = f+4;", 5, "a part of a function's address, or an offset to it"),
    (".global .u32 x = 0x;", 4, "expected an initial value, but `0x` is no number"),
    (".global .u32 x = 99999999999999999999;", 4, "this integer does not fit in 64 bits"),
    (".global .u32 a; .global .u64 x = -a;", 4, "expected an initial value, but found `a`"),
    (".global .u32 x[2] = {1, 2;", 4, "expected `,` or `}`, but found `;`"),
    (".reg .u32 r;", 4, "registers at module level"),
    (".param .u32 p;", 4, "`.param` at module level"),
    ("mov.u32 %r1, 1;", 4, "an instruction outside of a function's body"),
    ("@p bra L;", 4, "an instruction outside of a function's body"),
    ("}", 4, "this `}` closes nothing"),
    (".entry k() .maxntid x { ret; }", 4, "expected a number of threads, but found `x`"),
    (".entry k()\n.reqntid 32, 0 { ret; }", 5, "a `.reqntid` of 0: no block is that small"),
    (".entry k() .maxnreg 99999999999 { ret; }", 4, "99999999999 is too large for a number of registers"),
    (".entry k() .maxregs 20 { ret; }", 4, "unknown directive `.maxregs`"),
    (".pragma nounroll;", 4, "expected a pragma in quotes, but found `nounroll`"),
    (".pragma \"nounroll\"", 5, "expected `;` behind the pragma, but the file ends"),
    (".section .debug_str { .b8 1", 4, "this section is never closed"),
    (".loc 1 2", 5, "expected a column number, but the file ends"),
    (".extern 5;", 4, "expected `.entry`, `.func` or a state space, but found `5`"),
    ("12;", 4, "expected a directive such as `.entry`, `.func` or `.global`, but found `12`"),
    (
        ".global .u32 x; \u{1} .global .u32 y;",
        4,
        "expected a directive such as `.entry`, `.func` or `.global`, but found `\\u{1}`",
    ),
    (".attribute(.managed) .global .u32 x;", 4, "unknown directive `.attribute`"),
    (".entry k() ; ret;", 4, "an instruction outside of a function's body"),
    (".global .texref t = { addr_mode_0 = wrap ;", 5, "expected `}`, but the file ends"),
    (".func (.reg .u32 %r .reg .u32 %s) f() { ret; }", 4, "expected `,` or `)`, but found `.reg`"),
    (".alias f, g;", 4, "unknown directive `.alias`"),
];

/// Lines of a kernel, the first on line 6.
const BODIES: &[Case] = &[
    ("mov.u32 %r1, %r9;", 6, "`%r9` is beyond the 4 registers of `%r<4>`"),
    ("mov.u32 %r1, %x1;", 6, "`%x1` is not declared"),
    ("mov.u32 %r1, nothing;", 6, "`nothing` is not declared"),
    ("mov.u32 %r1, %tid;", 6, "`%tid` needs a component"),
    ("mov.u32 %r1, %tid.q;", 6, "`%tid` needs a component"),
    ("mov.u32 %r1, %laneidd;", 6, "`%laneidd` is not declared"),
    ("mov.u32 %r1 %r2;", 6, "expected `,` or `;`, but found `%r2`"),
    ("mov.u32 %r1, %r2", 6, "`;` is missing at the end of this instruction"),
    ("mov.u32 %r1,;", 6, "expected an operand, but found `;`"),
    ("mov.u32 , %r1;", 6, "expected an operand, but found `,`"),
    ("moov.u32 %r1, %r2;", 6, "unknown instruction `moov`"),
    ("mov.u33 %r1, %r2;", 6, "unknown modifier `.u33`"),
    ("mov. %r1, %r2;", 6, "expected an operand, but found `.`"),
    ("add.rn.rz.f32 %f1, %f1, %f2;", 6, "`.rz` contradicts a modifier before it"),
    ("setp.lt.gt.s32 %p1, %r1, %r2;", 6, "`.gt` contradicts a modifier before it"),
    ("ld.global.shared.u32 %r1, [%rd1];", 6, "`.shared` contradicts a modifier before it"),
    ("ld.v2.v4.u32 %r1, [%rd1];", 6, "`.v4` contradicts a modifier before it"),
    ("atom.add.min.u32 %r1, [%rd1], 1;", 6, "`.min` contradicts a modifier before it"),
    ("ld.ca.cg.u32 %r1, [%rd1];", 6, "`.cg` contradicts a modifier before it"),
    ("ld.global.u32 %r1, [%rd1;", 6, "expected `]`, but found `;`"),
    ("ld.global.u32 %r1, %rd1];", 6, "expected `,` or `;`, but found `]`"),
    ("ld.global.u32 %r1, [];", 6, "expected an address: a register, a variable or a number, but found `]`"),
    ("ld.global.u32 %r1, [%rd1+];", 6, "expected an offset in bytes, but found `]`"),
    ("ld.global.u32 %r1, [%rd1+%r2];", 6, "expected an offset in bytes, but found `%r2`"),
    ("ld.global.u32 %r1, [%rd1*4];", 6, "expected `]`, but found `*`"),
    ("ld.global.u32 %r1, [nothing];", 6, "`nothing` is not declared"),
    ("ld.global.u32 %r1, [%tid.x];", 6, "`%tid` is no address"),
    ("ld.global.u32 %r1, [1, {%r1}];", 6, "expected `]` behind a number, but found `{`"),
    ("ld.global.v2.u32 {%r1, %r2, [%rd1];", 6, "expected an operand, but found `[`"),
    ("ld.global.v2.u32 {%r1 %r2}, [%rd1];", 6, "expected `,` or `}`, but found `%r2`"),
    ("ld.global.v2.u32 {}, [%rd1];", 6, "an empty vector"),
    ("ld.global.v2.u32 {{%r1}, %r2}, [%rd1];", 6, "expected an operand, but found `{`"),
    ("mov.f32 %f1, 0f3F80;", 6, "expected an operand, but `0f3F80` is no number"),
    ("mov.f64 %fd1, 0d3FF0;", 6, "expected an operand, but `0d3FF0` is no number"),
    ("mov.u32 %r1, 0x;", 6, "expected an operand, but `0x` is no number"),
    ("mov.u32 %r1, 12abc;", 6, "expected an operand, but `12abc` is no number"),
    ("mov.u32 %r1, 99999999999999999999;", 6, "this integer does not fit in 64 bits"),
    ("mov.u32 %r1, (1+2;", 6, "expected `)`, but found `;`"),
    ("mov.u32 %r1, 1+;", 6, "expected a number, but found `;`"),
    ("mov.u32 %r1, 1 ? 2;", 6, "expected `:`, but found `;`"),
    ("mov.u32 %r1, 4/(2-2);", 6, "a division by zero in a constant expression"),
    ("mov.u32 %r1, --;", 6, "expected an operand, but found `;`"),
    ("mov.u32 %r1, #5;", 7, "expected an operand, but found `}`"),
    ("mov.u32 %r1, \"text\";", 6, "expected an operand, but found `\"text\"`"),
    ("mov.u32 %r1, 5 5;", 6, "expected `,` or `;`, but found `5`"),
    ("@ mov.u32 %r1, 1;", 6, "`mov` is not declared"),
    ("@%r1 mov.u32 %r1, 1;", 6, "the guard `%r1` is no predicate"),
    ("@%p9 mov.u32 %r1, 1;", 6, "`%p9` is beyond the 4 registers of `%p<4>`"),
    ("@!!%p1 mov.u32 %r1, 1;", 6, "expected a predicate register, but found `!`"),
    ("@%p1", 7, "expected an instruction, but found `}`"),
    ("@%p1 .reg .u32 q;", 6, "expected an instruction, but found `.reg`"),
    ("selp.u32 %r1, %r1, %r2, !%r3;", 6, "`%r3` is no predicate and cannot be negated"),
    ("selp.u32 %r1, %r1, %r2, !%q;", 6, "`%q` is not declared"),
    ("bra nowhere;", 6, "there is no label `nowhere`"),
    ("bra;", 6, "expected a label to branch to, but found `;`"),
    ("bra %r1, %r2, L;", 6, "`L` is not declared"),
    ("L: bra L L;", 6, "expected `,` or `;`, but found `L`"),
    ("L: ret; L: ret;", 6, "the label `L` stands twice in this scope"),
    ("bra nowher;\nnowhere: ret;", 6, "there is no label `nowher`"),
    ("brx.idx %r1, L; L: ret;", 6, "`L` names no list of branch targets"),
    ("brx.idx %r1, nolist;", 6, "there is no label `nolist`"),
    ("T: .branchtargets A, B; A: brx.idx %r1, T;", 6, "there is no label `B`"),
    ("T: .branchtargets ; ret;", 6, "expected a label, but found `;`"),
    ("T: .branchtargets A B; A: ret;", 6, "expected `;` behind the list of labels, but found `B`"),
    ("T: .branchtargets T; ret;", 6, "`T` names no place to branch to"),
    ("C: .callprototype _ (); bra C;", 6, "`C` names no place to branch to"),
    (".branchtargets A;", 6, "`.branchtargets` needs a label before it"),
    (".callprototype _ ();", 6, "`.callprototype` needs a label before it"),
    ("C: .callprototype (.param .u32) _ ();", 6, "expected the variable's name, but found `)`"),
    ("C: .callprototype (.param .u32 _) ();", 6, "expected `_` in place of the function's name, but found `(`"),
    ("C: .calltargets k, g;", 6, "`g` is no function of this module"),
    ("{ I: ret; }\nbra I;", 7, "there is no label `I`"),
    ("call;", 6, "expected a function or a register that holds its address, but found `;`"),
    ("call nothing;", 6, "`nothing` is not declared"),
    ("call %tid.x;", 6, "`%tid` is no function"),
    ("call (%r1) f;", 6, "expected `,` behind the return values, but found `f`"),
    ("call (%r1), f, %r2, x;", 6, "expected `,` or `;`, but found `,`"),
    ("call f, (%r1;", 6, "expected `,` or `)`, but found `;`"),
    ("call f, (%r1 %r2);", 6, "expected `,` or `)`, but found `%r2`"),
    ("call f, 5;", 6, "expected call arguments in parentheses, or a prototype's label, but found `5`"),
    ("call 5;", 6, "expected a function or a register that holds its address, but found `5`"),
    ("call %rd1, (%r1), P;", 6, "there is no label `P`"),
    (".reg u32 x;", 6, "expected a type such as `.b32`, but found `u32`"),
    (".reg .u32;", 6, "expected a register's name, but found `;`"),
    (".reg .u32 x y;", 6, "expected `;` behind the registers, but found `y`"),
    (".reg .u32 x<;", 6, "expected a number of registers, but found `;`"),
    (".reg .u32 x<4;", 6, "expected `>`, but found `;`"),
    (".reg .u32 x<-1>;", 6, "expected a number of registers, but found `-`"),
    (".reg .u32 x, x;", 6, "`x` is declared twice in this scope"),
    (".reg .u32 %r<3>;", 6, "`%r<…>` is declared twice in this scope"),
    (".reg .texref x;", 6, "registers of type .texref"),
    (".reg .u32 .u32 x;", 6, "a second type `.u32` after `.u32`"),
    (".reg .u32 x<5000000000>;", 6, "5000000000 is too large for a number of registers"),
    (".shared .u32 a; .shared .u32 a;", 6, "`a` is declared twice in this scope"),
    (".shared .u32 a", 6, "`a` is declared twice in this scope"),
    (".shared .f99 a;", 6, "expected a type, but found `.f99`"),
    (".local .align 5 .u32 a;", 6, "an alignment of 5 bytes"),
    (".local .u32 a = 5;", 6, "an initial value of a variable in .local"),
    (".sharred .u32 a;", 6, "unknown directive `.sharred` in a body"),
    (".entry q() { ret; }", 6, "a function inside a function"),
    (".tex .u32 t;", 6, "unknown directive `.tex` in a body"),
    (".visible .u32 x;", 6, "unknown directive `.u32` in a body"),
    (".loc 1;", 6, "expected a line number, but found `;`"),
    (".loc 1 2 3, inlined 4 5 6;", 6, "expected `function_name` or `inlined_at`, but found `inlined`"),
    (".loc 1 2 3, inlined_at 4 5;", 6, "expected a column number, but found `;`"),
    (".pragma x;", 6, "expected a pragma in quotes, but found `x`"),
    ("mov.f32 %v.w, %f1;", 6, "`%v` has no component `.w`"),
    ("mov.f32 %f1.x, %f2;", 6, "`%f1` has no component `.x`"),
    ("mov.u32 %r1.q, %r2;", 6, "expected `,`, `;` or a component such as `.x`, but found `.q`"),
    ("tex.2d.v4.f32.f32 {%f1,%f2,%f1,%f2}, [%rd1, {%f1,%f2];", 6, "expected `,` or `}`, but found `]`"),
    ("tex.2d.v4.f32.f32 {%f1,%f2,%f1,%f2}, [%rd1 {%f1,%f2}];", 6, "expected `]`, but found `{`"),
    ("tex.2d.v4.f32.f32 {%f1,%f2,%f1,%f2}, [%rd1, ];", 6, "expected an operand, but found `]`"),
    ("setp.lt.s32 %p1|, %r1, %r2;", 6, "expected an operand, but found `,`"),
    ("setp.lt.s32 %p1|%p2|%p3, %r1, %r2;", 6, "expected `,` or `;`, but found `|`"),
    ("mov.u32 %r1, k+4;", 6, "expected `,` or `;`, but found `+`"),
    ("add.u32 %r1, %r2, (%r1);", 6, "expected a number, but found `%r1`"),
    ("{ ret;", 8, "the file ends within the body of `k`"),
    ("+", 6, "expected an instruction, a label or a declaration, but found `+`"),
    ("5;", 6, "expected an instruction, a label or a declaration, but found `5`"),
    ("ret ret;", 6, "`ret` is not declared"),
    ("ret, ;", 6, "expected an operand, but found `,`"),
    ("add.banana.s32 %r1, %r1, %r2;", 6, "unknown modifier `.banana`"),
    ("add.s3 2 %r1, %r1, %r2;", 6, "unknown modifier `.s3`"),
    (": ret;", 6, "expected an instruction, a label or a declaration, but found `:`"),
    ("ld.const[x].u32 %r1, [%rd1];", 6, "expected a constant bank number, but found `x`"),
    ("st.global.u32 [%rd1], ;", 6, "expected an operand, but found `;`"),
    ("call.uni (%r1), k2, (%r1), ;", 6, "`k2` is not declared"),
];

/// The first error of a text.
fn first(text: &str) -> ParseError {
    match parse("bad.ptx", text) {
        Ok(_) => panic!("this is accepted:\n{text}"),
        Err(errors) => errors.errors.into_iter().next().unwrap(),
    }
}

fn all() -> impl Iterator<Item = (String, u32, &'static str)> {
    let header = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let registers = ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .f64 %fd<4>; \
        .reg .v2 .f32 %v;";
    let files = FILES.iter().map(|&(text, line, message)| (text.to_owned(), line, message));
    let items = ITEMS.iter().map(move |&(text, line, message)| (format!("{header}{text}\n"), line, message));
    let bodies = BODIES.iter().map(move |&(text, line, message)| {
        let kernel = format!(".func f() {{ ret; }} .entry k(.param .u64 a)\n{{ {registers}\n{text}\n}}\n");
        (format!("{header}{kernel}"), line, message)
    });
    files.chain(items).chain(bodies)
}

#[test]
fn each_has_its_line_and_message() {
    let mut wrong = Vec::new();
    for (text, line, message) in all() {
        let error = first(&text);
        if (error.line, error.message.as_str()) != (line, message) {
            wrong.push(format!("{text}\n  is: {} {:?}\n  should be: {line} {message:?}", error.line, error.message));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_are_many_and_they_differ() {
    assert!(all().count() >= 200);
    // Messages that differ in more than the names and numbers in them.
    let kinds: BTreeSet<String> = all()
        .map(|(_, _, message)| {
            let outside = message.split('`').step_by(2).collect::<Vec<_>>().join("`");
            outside.chars().filter(|c| !c.is_ascii_digit()).collect()
        })
        .collect();
    assert!(kinds.len() >= 60, "{} kinds", kinds.len());
}
