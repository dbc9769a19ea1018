//! What can be wrong with a choice of policies and their parameters, and what would be right.

use thiserror::Error;

/// A mistake in what the user asked of the policies.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PolicyError {
    /// No such policy.
    #[error("unknown policy `{name}`")]
    Unknown {
        /// The name given.
        name: String,
        /// What may have been meant, or what there is.
        hint: String,
    },
    /// A list of policies with nothing before or after a `+`.
    #[error("`{given}` lacks the name of a policy")]
    NoName {
        /// The list.
        given: String,
    },
    /// A policy is named twice.
    #[error("policy `{name}` is named twice")]
    Twice {
        /// The policy.
        name: String,
    },
    /// Two policies want the same hook.
    #[error("`{first}` and `{second}` cannot run together: both control the {hook}")]
    SameHook {
        /// The one named first.
        first: String,
        /// The other.
        second: String,
        /// The hook.
        hook: &'static str,
    },
    /// A setting of a policy that is not in use.
    #[error("`{key}` is a parameter of policy `{policy}`, which this run does not use")]
    NotInUse {
        /// The key given.
        key: String,
        /// Its policy.
        policy: String,
    },
    /// No such parameter.
    #[error("policy `{policy}` has no parameter `{key}`")]
    UnknownParameter {
        /// Policy.
        policy: String,
        /// The key given, without the policy's name.
        key: String,
        /// What may have been meant, or what there is.
        hint: String,
    },
    /// A policy that is defined on SPs of 32 lanes, and a GPU with narrower ones.
    #[error("`{policy}` gives each thread of a warp a lane, but the GPU's SPs have {width} lanes (`simd_width`)")]
    NarrowSimd {
        /// The policy.
        policy: String,
        /// Lanes of an SP.
        width: u32,
    },
    /// A value that is not legal.
    #[error("`{key}` cannot be `{value}`")]
    BadValue {
        /// The whole key.
        key: String,
        /// The value given.
        value: String,
        /// What is legal, with its unit.
        legal: String,
    },
    /// Parameters that contradict each other, or the GPU.
    #[error("{message}")]
    Inconsistent {
        /// How.
        message: String,
        /// What would be right.
        help: String,
    },
}

impl PolicyError {
    /// A short name for the kind of mistake.
    pub fn code(&self) -> &'static str {
        match self {
            PolicyError::Unknown { .. } => "policy::unknown",
            PolicyError::NoName { .. } => "policy::no-name",
            PolicyError::Twice { .. } => "policy::twice",
            PolicyError::SameHook { .. } => "policy::same-hook",
            PolicyError::NotInUse { .. } => "policy::not-in-use",
            PolicyError::UnknownParameter { .. } => "policy::unknown-parameter",
            PolicyError::NarrowSimd { .. } => "policy::narrow-simd",
            PolicyError::BadValue { .. } => "policy::bad-value",
            PolicyError::Inconsistent { .. } => "policy::inconsistent",
        }
    }

    /// Whether it is a mistake in this setting (`policy.key=value`).
    pub fn is_in(&self, setting: &str) -> bool {
        let (given, text) = setting.split_once('=').unwrap_or((setting, ""));
        let given = given.trim();
        match self {
            PolicyError::NotInUse { key, .. } => given == key,
            PolicyError::BadValue { key, value, .. } => given == key && text.trim() == value,
            PolicyError::UnknownParameter { policy, key, .. } => given.split_once('.') == Some((policy, key)),
            _ => false,
        }
    }

    /// What would be right.
    pub fn help(&self) -> String {
        match self {
            PolicyError::Unknown { hint, .. } | PolicyError::UnknownParameter { hint, .. } => hint.clone(),
            PolicyError::NoName { .. } => {
                "a policy stands on both sides of each `+`, for example origami+crisp-edp".to_owned()
            }
            PolicyError::Twice { .. } => "once is enough".to_owned(),
            PolicyError::SameHook { .. } => {
                "policies go together if they act on different hooks; `warpwatt policies` lists them".to_owned()
            }
            PolicyError::NotInUse { policy, .. } => {
                // Not every command that takes settings takes policies.
                format!("leave the setting out, or run under its policy: warpwatt run … --policy {policy}")
            }
            PolicyError::NarrowSimd { .. } => {
                "legal: simd_width=32, or a policy that leaves warps as they are".to_owned()
            }
            PolicyError::BadValue { legal, .. } => format!("legal: {legal}"),
            PolicyError::Inconsistent { help, .. } => help.clone(),
        }
    }

    /// Says what parameter may have been meant.
    pub(crate) fn unknown_parameter(policy: &str, key: &str, known: &[&str]) -> PolicyError {
        let hint = match known {
            [] => "it has no parameters".to_owned(),
            _ => suggest(key, known).unwrap_or_else(|| format!("its parameters are {}", known.join(", "))),
        };
        PolicyError::UnknownParameter { policy: policy.to_owned(), key: key.to_owned(), hint }
    }
}

/// "did you mean …", if a known name is near.
pub(crate) fn suggest(name: &str, known: &[&str]) -> Option<String> {
    nearest(name, known).map(|near| format!("did you mean `{near}`?"))
}

/// The known name that `name` may be a slip of.
pub(crate) fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let slips = |near: &str| strsim::damerau_levenshtein(&name.to_lowercase(), near);
    let near = known.iter().map(|k| (slips(k), *k)).min()?;
    (near.0 <= 1.max(near.1.len() / 3) && near.0 < near.1.len()).then_some(near.1)
}
