//! The module level: directives, variables, function headers. Bodies are skipped here and read once every module-level
//! name is known.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{Fault, ParseError};
use crate::ir::*;
use crate::lex::Kind;
use crate::parse::body;
use crate::parse::cursor::{Cursor, Parse};
use crate::parse::{decl, init};

/// What a module-level name stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ModuleName {
    Variable(u32),
    Function(FuncId),
}

/// Module-level names.
#[derive(Default)]
pub(crate) struct ModuleNames<'a> {
    pub(super) map: FxHashMap<&'a str, ModuleName>,
}

impl<'a> ModuleNames<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<ModuleName> {
        self.map.get(name).copied()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.map.keys().copied()
    }
}

/// After this many errors the rest is likely to be noise.
const MAX_ERRORS: usize = 20;

/// The errors of a file as they come up.
pub(crate) struct Errors<'f> {
    file: &'f str,
    source: &'f Arc<str>,
    pub list: Vec<ParseError>,
}

impl Errors<'_> {
    #[expect(clippy::boxed_local, reason = "faults travel boxed; this is where they arrive")]
    pub(crate) fn push(&mut self, fault: Box<Fault>) {
        if !self.full() {
            self.list.push(ParseError::new(self.file, self.source, *fault));
        }
    }

    pub(crate) fn full(&self) -> bool {
        self.list.len() >= MAX_ERRORS
    }
}

pub(super) struct ModuleParser<'a, 'f> {
    pub(super) cur: Cursor<'a>,
    pub(super) module: Module,
    pub(super) names: ModuleNames<'a>,
    errors: Errors<'f>,
    address_size: Option<u8>,
    version: Option<(u8, u8)>,
    /// Variables whose initialiser waits at a token position.
    initialisers: Vec<(u32, usize)>,
    /// Functions whose body's `{` waits at a token position.
    pub(super) bodies: Vec<(FuncId, usize)>,
}

/// Parses a whole token stream.
pub(crate) fn parse(file: &str, source: &Arc<str>, cur: Cursor<'_>) -> Result<Module, Vec<ParseError>> {
    let module = Module {
        name: file.to_owned(),
        source: source.clone(),
        version: (0, 0),
        target: Vec::new(),
        address_size: 64,
        variables: Vec::new(),
        functions: Vec::new(),
        files: Vec::new(),
    };
    let mut parser = ModuleParser {
        cur,
        module,
        names: ModuleNames::default(),
        errors: Errors { file, source, list: Vec::new() },
        address_size: None,
        version: None,
        initialisers: Vec::new(),
        bodies: Vec::new(),
    };
    parser.items();
    parser.finish()
}

impl ModuleParser<'_, '_> {
    fn items(&mut self) {
        while self.cur.kind() != Kind::End && !self.errors.full() {
            let start = self.cur.position;
            if let Err(fault) = self.item() {
                self.errors.push(fault);
                self.recover(start);
            }
        }
    }

    /// Skips to behind the next `;` or braced group, at least one token on.
    fn recover(&mut self, start: usize) {
        if self.cur.position == start {
            self.cur.bump();
        }
        loop {
            match self.cur.kind() {
                Kind::End => return,
                Kind::LBrace => {
                    self.cur.skip_group(Kind::LBrace, Kind::RBrace);
                    return;
                }
                Kind::Semi => {
                    self.cur.bump();
                    return;
                }
                _ => {
                    self.cur.bump();
                }
            }
        }
    }

    fn item(&mut self) -> Parse<()> {
        let start = self.cur.token().start;
        if self.cur.kind() != Kind::Dot {
            if self.cur.eat(Kind::Semi) {
                return Ok(());
            }
            return Err(self.outside());
        }
        let word = self.cur.dotted();
        if self.version.is_none() && word != "version" {
            return Err(Fault::new(self.cur.span(), "the file does not begin with `.version`")
                .help("the first statement of a PTX file is, for example, `.version 7.8`"));
        }
        match word {
            "version" => self.version_directive(),
            "target" => self.target_directive(),
            "address_size" => self.address_size_directive(),
            "file" => self.file_directive(),
            "loc" => loc(&mut self.cur).map(|_| ()),
            "pragma" => pragma(&mut self.cur),
            "section" => self.section(),
            _ => {
                let linkage = match decl::linkage_named(word) {
                    Some(linkage) => {
                        self.cur.bump();
                        linkage
                    }
                    None => Linkage::Local,
                };
                self.declaration(linkage, start)
            }
        }
    }

    /// Something that is no directive stands at module level.
    fn outside(&self) -> Box<Fault> {
        match self.cur.kind() {
            Kind::RBrace => Fault::new(self.cur.span(), "this `}` closes nothing"),
            Kind::Ident | Kind::At => Fault::new(self.cur.span(), "an instruction outside of a function's body")
                .help("expected a directive such as `.visible .entry` or `.global`"),
            _ => self.cur.unexpected("a directive such as `.entry`, `.func` or `.global`"),
        }
    }

    fn declaration(&mut self, linkage: Linkage, start: u32) -> Parse<()> {
        match self.cur.dotted() {
            "entry" => {
                self.cur.bump();
                self.function(true, linkage)
            }
            "func" => {
                self.cur.bump();
                self.function(false, linkage)
            }
            "reg" => Err(Fault::new(self.cur.span(), "registers at module level")
                .help("declare `.reg` inside the function that uses it")),
            "param" => Err(Fault::new(self.cur.span(), "`.param` at module level")
                .help("kernel parameters stand in the parentheses behind the kernel's name")),
            word => match decl::space_named(word) {
                Some(space) => {
                    self.cur.bump();
                    self.variables(space, linkage, start)
                }
                None => Err(self.unknown_directive(word)),
            },
        }
    }

    fn unknown_directive(&self, word: &str) -> Box<Fault> {
        const KNOWN: &[&str] = &[
            "version",
            "target",
            "address_size",
            "entry",
            "func",
            "global",
            "const",
            "shared",
            "local",
            "tex",
            "visible",
            "extern",
            "weak",
            "common",
            "file",
            "loc",
            "pragma",
            "section",
            "maxntid",
            "reqntid",
            "minnctapersm",
            "maxnctapersm",
            "maxnreg",
            "noreturn",
        ];
        if self.cur.kind() != Kind::Dot {
            return self.cur.unexpected("`.entry`, `.func` or a state space");
        }
        let fault = Fault::new(self.cur.span(), format!("unknown directive `.{word}`"))
            .help("expected `.entry`, `.func`, a state space or another module-level directive");
        fault.suggest_dotted(word, KNOWN.iter().copied())
    }

    fn version_directive(&mut self) -> Parse<()> {
        self.cur.bump();
        let token = self.cur.token();
        let text = self.cur.word();
        let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let Some(version) = parts.filter(|_| token.kind == Kind::Decimal) else {
            return Err(self.cur.unexpected("a PTX version such as `7.8`"));
        };
        if !(1..=9).contains(&version.0) {
            return Err(Fault::new(token.span(), format!("PTX version {text} is not known"))
                .help("versions 1.0 to 9.x are read"));
        }
        self.cur.bump();
        self.version = Some(version);
        Ok(())
    }

    fn target_directive(&mut self) -> Parse<()> {
        self.cur.bump();
        loop {
            let token = self.cur.require(Kind::Ident, "a target such as `sm_35`")?;
            self.module.target.push(self.cur.slice(token).to_owned());
            if !self.cur.eat(Kind::Comma) {
                return Ok(());
            }
        }
    }

    fn address_size_directive(&mut self) -> Parse<()> {
        self.cur.bump();
        let span = self.cur.span();
        match self.cur.unsigned("32 or 64")? {
            size @ (32 | 64) => {
                self.address_size = Some(size as u8);
                Ok(())
            }
            size => Err(Fault::new(span, format!("an address size of {size} bits")).help("expected 32 or 64")),
        }
    }

    fn file_directive(&mut self) -> Parse<()> {
        self.cur.bump();
        let index = self.cur.unsigned32("a file number")?;
        let path = self.cur.require(Kind::Str, "the file's path in quotes")?;
        self.module.files.push((index, self.cur.slice(path).trim_matches('"').to_owned()));
        while self.cur.eat(Kind::Comma) {
            self.cur.unsigned("a time stamp or size")?;
        }
        Ok(())
    }

    /// Debug data: skipped. Old compilers wrote sections without braces, up to the next directive.
    fn section(&mut self) -> Parse<()> {
        let open = self.cur.bump();
        while self.cur.kind() == Kind::Dot || self.cur.kind() == Kind::Ident {
            self.cur.bump();
        }
        if self.cur.kind() == Kind::LBrace {
            return if self.cur.skip_group(Kind::LBrace, Kind::RBrace) {
                Ok(())
            } else {
                Err(Fault::new(open.span(), "this section is never closed"))
            };
        }
        let begins_item = |cur: &Cursor<'_>| {
            let word = cur.dotted();
            matches!(word, "section" | "entry" | "func" | "file")
                || decl::linkage_named(word).is_some()
                || decl::space_named(word).is_some()
        };
        while self.cur.kind() != Kind::End && !begins_item(&self.cur) {
            self.cur.bump();
        }
        Ok(())
    }

    fn variables(&mut self, space: Space, linkage: Linkage, start: u32) -> Parse<()> {
        let attributes = decl::attributes(&mut self.cur)?;
        loop {
            let name = self.cur.token();
            let variable = decl::named(&mut self.cur, space, linkage, attributes, start)?;
            let id = self.add_variable(variable, name.span())?;
            if self.cur.eat(Kind::Equal) {
                self.initialisers.push((id, self.cur.position));
                self.skip_initialiser();
            }
            if !self.cur.eat(Kind::Comma) {
                break;
            }
        }
        self.cur.require(Kind::Semi, "`;` behind the declaration")?;
        Ok(())
    }

    fn skip_initialiser(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.cur.kind() {
                Kind::LBrace | Kind::LParen => depth += 1,
                Kind::RBrace | Kind::RParen => depth = depth.saturating_sub(1),
                Kind::Semi | Kind::End => return,
                Kind::Comma if depth == 0 => return,
                _ => {}
            }
            self.cur.bump();
        }
    }

    /// Enters a variable, or merges it with its `.extern` declaration.
    fn add_variable(&mut self, variable: Variable, name_span: Span) -> Parse<u32> {
        let name = &self.cur.text[name_span.start as usize..name_span.end as usize];
        match self.names.get(name) {
            Some(ModuleName::Variable(id)) => {
                let slot = &mut self.module.variables[id as usize];
                let (old, new) = (slot.linkage, variable.linkage);
                if slot.space != variable.space {
                    return Err(Fault::new(name_span, format!("`{name}` was declared in another state space before")));
                }
                if old == Linkage::Extern && (new != Linkage::Extern || slot.size == 0) {
                    *slot = variable;
                } else if new != Linkage::Extern && !(old == Linkage::Common && new == Linkage::Common) {
                    return Err(Fault::new(name_span, format!("`{name}` is defined twice")));
                }
                Ok(id)
            }
            Some(ModuleName::Function(_)) => Err(Fault::new(name_span, format!("`{name}` is already a function"))),
            None => {
                let id = self.module.variables.len() as u32;
                self.module.variables.push(variable);
                self.names.map.insert(name, ModuleName::Variable(id));
                Ok(id)
            }
        }
    }

    fn finish(mut self) -> Result<Module, Vec<ParseError>> {
        if let Some(version) = self.version {
            self.module.version = version;
        } else if self.errors.list.is_empty() {
            let span = self.cur.span();
            self.errors.push(
                Fault::new(span, "the file holds no PTX")
                    .help("a PTX file begins with `.version`, `.target` and `.address_size`"),
            );
        }
        if self.module.target.is_empty() && self.errors.list.is_empty() {
            let span = Span { start: 0, end: 0 };
            self.errors.push(
                Fault::new(span, "the file names no `.target`").help("for example `.target sm_35`, behind `.version`"),
            );
        }
        for (id, position) in std::mem::take(&mut self.initialisers) {
            let mut cur = Cursor { position, ..self.cur };
            let variable = &mut self.module.variables[id as usize];
            let read = init::initialiser(&mut cur, variable, &self.names).and_then(|()| match cur.kind() {
                Kind::Semi | Kind::Comma => Ok(()),
                _ => Err(cur.unexpected("`;` or `,` behind the initial value")),
            });
            if let Err(fault) = read {
                self.errors.push(fault);
            }
        }
        for (id, position) in std::mem::take(&mut self.bodies) {
            let cur = Cursor { position, ..self.cur };
            body::parse(cur, &mut self.module, id, &self.names, &mut self.errors);
        }
        if self.errors.list.is_empty() {
            addresses(&self.module, &mut self.errors);
        }
        if !self.errors.list.is_empty() {
            self.errors.list.sort_by_key(|e| e.span.start);
            return Err(self.errors.list);
        }
        self.module.address_size = self.address_size.unwrap_or_else(|| guess_address_size(&self.module));
        Ok(self.module)
    }
}

/// Checks the addresses among the initial values: only variables that lie at one place for the whole device have one
/// (PTX ISA manual, "Initializers").
fn addresses(module: &Module, errors: &mut Errors<'_>) {
    let bodies = module.functions.iter().filter_map(|f| f.body.as_ref()).flat_map(|body| &body.variables);
    for variable in module.variables.iter().chain(bodies) {
        for init in &variable.init {
            if let InitValue::Variable { variable: id, .. } = init.value
                && let Some(named) = module.variables.get(id as usize)
                && !matches!(named.space, Space::Global | Space::Const)
            {
                let message = format!(
                    "the initial value of `{}` is the address of `{}`, which lies in .{}",
                    variable.name,
                    named.name,
                    named.space.name()
                );
                errors.push(
                    Fault::new(variable.span, message)
                        .help("initial values are addresses of variables in .global and .const, and of functions"),
                );
            }
        }
    }
}

/// Old files lack `.address_size` and use 64-bit pointers all the same: the registers in addresses tell.
fn guess_address_size(module: &Module) -> u8 {
    let bodies = module.functions.iter().filter_map(|f| f.body.as_ref());
    let widths = bodies.flat_map(|body| {
        let operands = body.instructions.iter().flat_map(|i| i.operands.iter());
        operands.filter_map(|operand| match operand {
            Operand::Address(AddressBase::Reg(reg), _) => Some(body.registers[reg.0 as usize].ty.bytes()),
            _ => None,
        })
    });
    match widths.max() {
        Some(8) => 64,
        Some(_) => 32,
        None if module.functions.iter().flat_map(|f| &f.params).any(|p| p.ty.bytes() == 8) => 64,
        None => 32,
    }
}

/// `.pragma "text", …;`
pub(crate) fn pragma(cur: &mut Cursor<'_>) -> Parse<()> {
    cur.bump();
    loop {
        cur.require(Kind::Str, "a pragma in quotes")?;
        if !cur.eat(Kind::Comma) {
            break;
        }
    }
    cur.require(Kind::Semi, "`;` behind the pragma")?;
    Ok(())
}

/// `.loc file line column [, function_name label [+ n], inlined_at file line column]`; gives file and line.
pub(crate) fn loc(cur: &mut Cursor<'_>) -> Parse<(u32, u32)> {
    cur.bump();
    let file = cur.unsigned32("a file number")?;
    let line = cur.unsigned32("a line number")?;
    cur.unsigned32("a column number")?;
    while cur.eat(Kind::Comma) {
        match cur.word() {
            "function_name" => {
                cur.bump();
                cur.require(Kind::Ident, "a label of a string")?;
                if cur.eat(Kind::Plus) {
                    cur.unsigned("an offset")?;
                }
            }
            "inlined_at" => {
                cur.bump();
                for what in ["a file number", "a line number", "a column number"] {
                    cur.unsigned32(what)?;
                }
            }
            _ => return Err(cur.unexpected("`function_name` or `inlined_at`")),
        }
    }
    Ok((file, line))
}
