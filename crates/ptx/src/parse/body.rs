//! Bodies: scopes, declarations, labels; instructions go to [`instruction`].

use rustc_hash::FxHashMap;

use crate::error::Fault;
use crate::ir::*;
use crate::lex::Kind;
use crate::parse::cursor::{Cursor, Parse};
use crate::parse::module::{self, Errors, ModuleName, ModuleNames};
use crate::parse::scope::{Label, Name, Scopes};
use crate::parse::{decl, init, instruction};
use crate::words::{self, SpecialName};

/// Where a mention of a label is to be filled in.
pub(crate) enum Mention {
    /// Operand of an instruction.
    Operand(u32, u32),
    /// Entry of a `.branchtargets` list.
    BranchTarget(u32, u32),
}

/// A mention of a label that is not resolved yet. Labels may follow their use, so a scope's mentions are resolved at
/// its end; those of outer labels move outwards.
pub(crate) struct Pending<'a> {
    name: &'a str,
    span: Span,
    mention: Mention,
}

/// State while a body is read.
pub(crate) struct BodyParser<'a, 'm> {
    pub cur: Cursor<'a>,
    pub body: Body,
    pub names: &'m ModuleNames<'a>,
    pub scopes: Scopes<'a>,
    labels: Vec<FxHashMap<&'a str, Label>>,
    pending: Vec<Pending<'a>>,
    pending_marks: Vec<usize>,
    pub loc: Option<(u32, u32)>,
    pub scratch: Vec<Operand>,
}

/// What a mentioned name stands for.
pub(crate) enum Resolved {
    Reg(RegId),
    Variable(VarRef),
    Function(FuncId),
    Special(Special),
    SpecialVector(fn(u8) -> Special),
}

/// Reads the body whose `{` is the cursor's token into function `id`.
pub(crate) fn parse<'a>(
    cur: Cursor<'a>,
    module: &mut Module,
    id: FuncId,
    names: &ModuleNames<'a>,
    errors: &mut Errors<'_>,
) {
    let function = &mut module.functions[id.0 as usize];
    let mut parser = BodyParser {
        cur,
        body: Body::default(),
        names,
        scopes: Scopes::default(),
        labels: vec![FxHashMap::default()],
        pending: Vec::new(),
        pending_marks: Vec::new(),
        loc: None,
        scratch: Vec::new(),
    };
    parser.declare_parameters(&mut function.params, VarRef::Param);
    parser.declare_parameters(&mut function.returns, VarRef::Return);
    parser.cur.bump();
    parser.statements(errors);
    function.body = Some(parser.body);
}

impl<'a> BodyParser<'a, '_> {
    fn declare_parameters(&mut self, list: &mut [Variable], reference: fn(u32) -> VarRef) {
        for (i, variable) in list.iter_mut().enumerate() {
            let what = if variable.space == Space::Reg {
                let id = RegId(self.body.registers.len() as u32);
                let (ty, vector) = (variable.ty, variable.vector);
                self.body.registers.push(Register { name: variable.name.clone(), ty, vector });
                variable.reg = Some(id);
                Name::Reg(id)
            } else {
                Name::Variable(reference(i as u32))
            };
            // The declaration's span ends with the name and its dimensions; the name borrows from the text.
            let declaration = &self.cur.text[variable.span.start as usize..variable.span.end as usize];
            if let Some(at) = declaration.rfind(variable.name.as_str()) {
                self.scopes.declare(&declaration[at..at + variable.name.len()], what);
            }
        }
    }

    /// Everything up to the `}` that closes the body.
    fn statements(&mut self, errors: &mut Errors<'_>) {
        while !errors.full() {
            match self.cur.kind() {
                Kind::End => return,
                Kind::LBrace => {
                    self.cur.bump();
                    self.scopes.enter();
                    self.labels.push(FxHashMap::default());
                    self.pending_marks.push(self.pending.len());
                }
                Kind::RBrace => {
                    self.cur.bump();
                    self.end_scope(errors);
                    if self.labels.is_empty() {
                        return;
                    }
                    self.scopes.leave();
                }
                Kind::Semi => {
                    self.cur.bump();
                }
                _ => {
                    let start = self.cur.position;
                    if let Err(fault) = self.statement() {
                        errors.push(fault);
                        self.recover(start);
                    }
                }
            }
        }
    }

    /// Skips to behind the next `;`, or to a brace that opens or closes a scope.
    fn recover(&mut self, start: usize) {
        // The fault may stand behind the statement's own end, when its `;` is missing.
        let ended = self.cur.position > start && self.cur.tokens[self.cur.position - 1].kind == Kind::Semi;
        if ended {
            return;
        }
        let mut first = self.cur.position == start;
        loop {
            match self.cur.kind() {
                Kind::End => return,
                Kind::LBrace | Kind::RBrace if self.at_line_start() => return,
                Kind::Semi => {
                    self.cur.bump();
                    return;
                }
                // A new statement on a new line: the `;` was forgotten.
                Kind::Ident | Kind::At | Kind::Dot if !first && self.at_line_start() => return,
                _ => {
                    self.cur.bump();
                }
            }
            first = false;
        }
    }

    /// Whether the current token is the first on its line.
    pub(crate) fn at_line_start(&self) -> bool {
        let before = &self.cur.text[self.cur.last_end() as usize..self.cur.token().start as usize];
        before.contains('\n')
    }

    fn end_scope(&mut self, errors: &mut Errors<'_>) {
        let labels = self.labels.pop().unwrap_or_default();
        let mark = self.pending_marks.pop().unwrap_or(0);
        let outermost = self.labels.is_empty();
        let mut keep = Vec::new();
        for pending in self.pending.split_off(mark) {
            match labels.get(pending.name) {
                Some(&label) => {
                    if let Err(fault) = self.fill(&pending, label) {
                        errors.push(fault);
                    }
                }
                None if outermost => {
                    let fault = Fault::new(pending.span, format!("there is no label `{}`", pending.name));
                    errors.push(
                        fault
                            .help("expected a label of this function that is visible here")
                            .suggest(pending.name, labels.keys().copied()),
                    );
                }
                None => keep.push(pending),
            }
        }
        self.pending.append(&mut keep);
    }

    fn fill(&mut self, pending: &Pending<'a>, label: Label) -> Parse<()> {
        match pending.mention {
            Mention::Operand(instruction, operand) => {
                let slot = &mut self.body.instructions[instruction as usize];
                let (value, what) = match (slot.opcode, label) {
                    (Opcode::Bra, Label::Instruction(index)) => (Some(Operand::Label(index)), ""),
                    (Opcode::Bra, _) => (None, "place to branch to"),
                    (Opcode::Brx, Label::BranchTargets(index)) => (Some(Operand::BranchTargets(index)), ""),
                    (Opcode::Brx, _) => (None, "list of branch targets"),
                    (_, Label::CallTargets(index)) => (Some(Operand::CallTargets(index)), ""),
                    (_, Label::Prototype(index)) => (Some(Operand::Prototype(index)), ""),
                    _ => (None, "prototype or list of call targets"),
                };
                let Some(value) = value else {
                    return Err(Fault::new(pending.span, format!("`{}` names no {what}", pending.name)));
                };
                slot.operands[operand as usize] = value;
            }
            Mention::BranchTarget(list, entry) => match label {
                Label::Instruction(index) => self.body.branch_targets[list as usize][entry as usize] = index,
                _ => return Err(Fault::new(pending.span, format!("`{}` names no place to branch to", pending.name))),
            },
        }
        Ok(())
    }

    /// Notes a mention of a label.
    pub(crate) fn mention(&mut self, name: &'a str, span: Span, mention: Mention) {
        self.pending.push(Pending { name, span, mention });
    }

    /// How many mentions wait, for [`BodyParser::forget_mentions`].
    pub(crate) fn mentions(&self) -> usize {
        self.pending.len()
    }

    /// Drops the mentions of an instruction that turned out to be wrong.
    pub(crate) fn forget_mentions(&mut self, keep: usize) {
        self.pending.truncate(keep);
    }

    fn statement(&mut self) -> Parse<()> {
        match self.cur.kind() {
            Kind::Dot => self.directive(),
            Kind::Ident if self.cur.ahead(1).kind == Kind::Colon => self.label(),
            Kind::Ident | Kind::At => instruction::parse(self),
            _ => Err(self.cur.unexpected("an instruction, a label or a declaration")),
        }
    }

    fn label(&mut self) -> Parse<()> {
        let token = self.cur.bump();
        let name = self.cur.slice(token);
        self.cur.bump();
        let label = match self.cur.dotted() {
            "branchtargets" => self.branch_targets()?,
            "calltargets" => self.call_targets()?,
            "callprototype" => self.prototype()?,
            _ => Label::Instruction(self.body.instructions.len() as u32),
        };
        match self.labels.last_mut().and_then(|labels| labels.insert(name, label)) {
            Some(_) => Err(Fault::new(token.span(), format!("the label `{name}` stands twice in this scope"))),
            None => Ok(()),
        }
    }

    fn branch_targets(&mut self) -> Parse<Label> {
        self.cur.bump();
        let mut names = Vec::new();
        loop {
            names.push(self.cur.require(Kind::Ident, "a label")?);
            if !self.cur.eat(Kind::Comma) {
                break;
            }
        }
        self.cur.require(Kind::Semi, "`;` behind the list of labels")?;
        let list = self.body.branch_targets.len() as u32;
        self.body.branch_targets.push(vec![0; names.len()]);
        for (entry, name) in names.into_iter().enumerate() {
            self.mention(self.cur.slice(name), name.span(), Mention::BranchTarget(list, entry as u32));
        }
        Ok(Label::BranchTargets(list))
    }

    fn call_targets(&mut self) -> Parse<Label> {
        self.cur.bump();
        let mut list = Vec::new();
        loop {
            let token = self.cur.require(Kind::Ident, "a function")?;
            let name = self.cur.slice(token);
            match self.names.get(name) {
                Some(ModuleName::Function(id)) => list.push(id),
                _ => {
                    return Err(Fault::new(token.span(), format!("`{name}` is no function of this module"))
                        .suggest(name, self.names.names()));
                }
            }
            if !self.cur.eat(Kind::Comma) {
                break;
            }
        }
        self.cur.require(Kind::Semi, "`;` behind the list of functions")?;
        self.body.call_targets.push(list);
        Ok(Label::CallTargets(self.body.call_targets.len() as u32 - 1))
    }

    /// `.callprototype (returns) _ (parameters);`
    fn prototype(&mut self) -> Parse<Label> {
        self.cur.bump();
        let returns = if self.cur.kind() == Kind::LParen { decl::parameters(&mut self.cur)? } else { Vec::new() };
        self.cur.require(Kind::Ident, "`_` in place of the function's name")?;
        let params = if self.cur.kind() == Kind::LParen { decl::parameters(&mut self.cur)? } else { Vec::new() };
        while matches!(self.cur.dotted(), "noreturn" | "abi_preserve" | "abi_preserve_control") {
            self.cur.bump();
            self.cur.eat(Kind::Int);
        }
        self.cur.require(Kind::Semi, "`;` behind the prototype")?;
        self.body.prototypes.push(Prototype { params, returns });
        Ok(Label::Prototype(self.body.prototypes.len() as u32 - 1))
    }

    fn directive(&mut self) -> Parse<()> {
        let start = self.cur.token().start;
        let word = self.cur.dotted();
        match word {
            "reg" => return self.registers(),
            "loc" => {
                self.loc = Some(module::loc(&mut self.cur)?);
                return Ok(());
            }
            "pragma" => return module::pragma(&mut self.cur),
            "branchtargets" | "calltargets" | "callprototype" => {
                return Err(Fault::new(self.cur.span(), format!("`.{word}` needs a label before it")));
            }
            _ => {}
        }
        let linkage = decl::linkage_named(word);
        if linkage.is_some() {
            self.cur.bump();
        }
        let Some(space) = decl::space_named(self.cur.dotted()).filter(|&s| s != Space::Tex) else {
            let word = self.cur.dotted();
            if matches!(word, "entry" | "func") {
                return Err(Fault::new(self.cur.span(), "a function inside a function")
                    .help("is the `}` of the function before missing?"));
            }
            const KNOWN: &[&str] = &["reg", "shared", "local", "param", "const", "global", "loc", "pragma"];
            return Err(Fault::new(self.cur.span(), format!("unknown directive `.{word}` in a body"))
                .help("expected `.reg`, a state space, `.loc` or `.pragma`")
                .suggest_dotted(word, KNOWN.iter().copied()));
        };
        self.cur.bump();
        self.variables(space, linkage.unwrap_or_default(), start)
    }

    fn variables(&mut self, space: Space, linkage: Linkage, start: u32) -> Parse<()> {
        let attributes = decl::attributes(&mut self.cur)?;
        loop {
            let name = self.cur.token();
            let mut variable = decl::named(&mut self.cur, space, linkage, attributes, start)?;
            if self.cur.eat(Kind::Equal) {
                init::initialiser(&mut self.cur, &mut variable, self.names)?;
            }
            self.body.variables.push(variable);
            let id = VarRef::Body(self.body.variables.len() as u32 - 1);
            self.declare(name.span(), Name::Variable(id))?;
            if !self.cur.eat(Kind::Comma) {
                break;
            }
        }
        self.cur.require(Kind::Semi, "`;` behind the declaration")?;
        Ok(())
    }

    fn declare(&mut self, span: Span, what: Name) -> Parse<()> {
        let name = &self.cur.text[span.start as usize..span.end as usize];
        if self.scopes.declare(name, what) {
            Ok(())
        } else {
            Err(Fault::new(span, format!("`{name}` is declared twice in this scope")))
        }
    }

    /// `.reg .v4 .f32 a, b<10>;`
    fn registers(&mut self) -> Parse<()> {
        self.cur.bump();
        let at = decl::attributes(&mut self.cur)?;
        if matches!(at.ty, Type::TexRef | Type::SamplerRef | Type::SurfRef) {
            return Err(Fault::new(self.cur.span(), format!("registers of type .{}", at.ty.name())));
        }
        loop {
            let name = self.cur.require(Kind::Ident, "a register's name")?;
            let text = self.cur.slice(name);
            if self.cur.eat(Kind::Less) {
                let count = self.cur.unsigned32("a number of registers")?;
                self.cur.require(Kind::Greater, "`>`")?;
                if !self.scopes.declare_range(text, count, at.ty, at.vector) {
                    return Err(Fault::new(name.span(), format!("`{text}<…>` is declared twice in this scope")));
                }
            } else {
                let id = RegId(self.body.registers.len() as u32);
                self.body.registers.push(Register { name: text.to_owned(), ty: at.ty, vector: at.vector });
                self.declare(name.span(), Name::Reg(id))?;
            }
            if !self.cur.eat(Kind::Comma) {
                break;
            }
        }
        self.cur.require(Kind::Semi, "`;` behind the registers")?;
        Ok(())
    }

    /// What a name stands for that is no label.
    pub(crate) fn resolve(&mut self, name: &'a str) -> Option<Resolved> {
        if let Some(found) = self.scopes.find(name, &mut self.body.registers) {
            return Some(match found {
                Name::Reg(id) => Resolved::Reg(id),
                Name::Variable(reference) => Resolved::Variable(reference),
            });
        }
        if name.starts_with('%') || name == "WARP_SZ" {
            return words::special(name).map(|special| match special {
                SpecialName::Scalar(special) => Resolved::Special(special),
                SpecialName::Vector(make) => Resolved::SpecialVector(make),
            });
        }
        self.names.get(name).map(|found| match found {
            ModuleName::Variable(id) => Resolved::Variable(VarRef::Module(id)),
            ModuleName::Function(id) => Resolved::Function(id),
        })
    }

    /// The error for a name that stands for nothing.
    pub(crate) fn unknown(&self, name: &str, span: Span) -> Box<Fault> {
        if let Some((prefix, count)) = self.scopes.beyond_range(name) {
            return Fault::new(span, format!("`{name}` is beyond the {count} registers of `{prefix}<{count}>`"))
                .help("raise the number in its `.reg` declaration");
        }
        let candidates =
            self.scopes.names().chain(self.names.names()).chain(words::special_names().map(|n| -> &'a str { n }));
        Fault::new(span, format!("`{name}` is not declared"))
            .help("expected a register, a variable, a function or a special register that is visible here")
            .suggest(name, candidates)
    }
}
