//! Headers of kernels and functions (PTX ISA manual, "Kernel and Function Directives" and "Performance-Tuning
//! Directives").

use crate::error::Fault;
use crate::ir::*;
use crate::lex::Kind;
use crate::parse::cursor::Parse;
use crate::parse::decl;
use crate::parse::module::{ModuleName, ModuleParser, pragma};

impl ModuleParser<'_, '_> {
    pub(super) fn function(&mut self, entry: bool, linkage: Linkage) -> Parse<()> {
        if self.cur.eat_dot("attribute") && !self.cur.skip_group(Kind::LParen, Kind::RParen) {
            return Err(self.cur.unexpected("`)`"));
        }
        let returns = if self.cur.kind() == Kind::LParen {
            if entry {
                return Err(Fault::new(self.cur.span(), "a kernel returns nothing")
                    .help("expected the kernel's name behind `.entry`"));
            }
            decl::parameters(&mut self.cur)?
        } else {
            Vec::new()
        };
        let what = if entry { "the kernel's name" } else { "the function's name" };
        let name = self.cur.require(Kind::Ident, what)?;
        let params = if self.cur.kind() == Kind::LParen { decl::parameters(&mut self.cur)? } else { Vec::new() };
        let mut function = Function {
            name: self.cur.slice(name).to_owned(),
            entry,
            linkage,
            params,
            returns,
            maxntid: None,
            reqntid: None,
            minnctapersm: None,
            maxnreg: None,
            body: None,
            span: name.span(),
        };
        self.performance_directives(&mut function)?;
        let open = self.cur.position;
        let has_body = self.cur.kind() == Kind::LBrace;
        if has_body {
            function.body = Some(Body::default());
        }
        let id = self.add_function(function)?;
        if has_body {
            self.bodies.push((id, open));
            if !self.cur.skip_group(Kind::LBrace, Kind::RBrace) {
                let name = &self.module.functions[id.0 as usize].name;
                return Err(Fault::new(self.cur.span(), format!("the file ends within the body of `{name}`"))
                    .help("a `}` is missing"));
            }
        } else {
            // Old compilers end prototypes without `;`.
            self.cur.eat(Kind::Semi);
        }
        Ok(())
    }

    fn performance_directives(&mut self, function: &mut Function) -> Parse<()> {
        loop {
            let word = self.cur.dotted();
            match word {
                "maxntid" | "reqntid" | "reqnctapercluster" => {
                    self.cur.bump();
                    let span = self.cur.span();
                    let shape = self.shape()?;
                    if shape.contains(&0) {
                        return Err(Fault::new(span, format!("a `.{word}` of 0: no block is that small")));
                    }
                    match word {
                        "maxntid" => {
                            let threads = shape.iter().try_fold(1u32, |n, &d| n.checked_mul(d));
                            function.maxntid = Some(threads.unwrap_or(u32::MAX));
                        }
                        "reqntid" => function.reqntid = Some(shape),
                        _ => {}
                    }
                }
                "minnctapersm" | "maxnctapersm" => {
                    self.cur.bump();
                    let value = self.cur.unsigned32("a number of CTAs")?;
                    if word == "minnctapersm" {
                        function.minnctapersm = Some(value);
                    }
                }
                "maxnreg" => {
                    self.cur.bump();
                    function.maxnreg = Some(self.cur.unsigned32("a number of registers")?);
                }
                "maxclusterrank" | "abi_preserve" | "abi_preserve_control" => {
                    self.cur.bump();
                    self.cur.unsigned32("a number")?;
                }
                "noreturn" | "explicitcluster" | "blocksareclusters" => {
                    self.cur.bump();
                }
                "pragma" => pragma(&mut self.cur)?,
                _ => return Ok(()),
            }
        }
    }

    fn shape(&mut self) -> Parse<[u32; 3]> {
        let mut shape = [1; 3];
        for (i, slot) in shape.iter_mut().enumerate() {
            if i > 0 && !self.cur.eat(Kind::Comma) {
                break;
            }
            *slot = self.cur.unsigned32("a number of threads")?;
        }
        Ok(shape)
    }

    /// Enters a function, or merges it with its prototype.
    fn add_function(&mut self, function: Function) -> Parse<FuncId> {
        let span = function.span;
        let name = &self.cur.text[span.start as usize..span.end as usize];
        match self.names.get(name) {
            Some(ModuleName::Function(id)) => {
                let slot = &mut self.module.functions[id.0 as usize];
                if slot.body.is_some() && function.body.is_some() {
                    return Err(Fault::new(span, format!("`{name}` is defined twice")));
                }
                if slot.entry != function.entry {
                    return Err(Fault::new(span, format!("`{name}` is `.entry` in one place and `.func` in another")));
                }
                if slot.params.len() != function.params.len() || slot.returns.len() != function.returns.len() {
                    return Err(Fault::new(span, format!("`{name}` was declared with other parameters before")));
                }
                if slot.body.is_none() {
                    *slot = function;
                }
                Ok(id)
            }
            Some(ModuleName::Variable(_)) => Err(Fault::new(span, format!("`{name}` is already a variable"))),
            None => {
                let id = FuncId(self.module.functions.len() as u32);
                self.module.functions.push(function);
                self.names.map.insert(name, ModuleName::Function(id));
                Ok(id)
            }
        }
    }
}
