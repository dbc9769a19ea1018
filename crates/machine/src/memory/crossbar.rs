//! One network of the crossbar: an input-queued switch.
//!
//! Every input has one FIFO, so its head blocks what stands behind it (head-of-line blocking; with uniform traffic such a
//! switch saturates at 58.6 % per port for many ports: Karol, Hluchyj, Morgan, "Input versus output queueing on a
//! space-division packet switch", IEEE Trans. Commun. 1987). Each cycle every output takes a flit of one input, chosen by
//! a rotating priority that moves one beyond the winner when it is granted, as in iSLIP (McKeown, IEEE/ACM Trans.
//! Networking 1999). Since a FIFO's head asks for one output only, no input is granted twice, and one iteration finds what
//! more would find. A packet holds its output until its last flit has passed.
//!
//! The queues themselves belong to the neighbours; the switch knows the head of each.

use super::{Ports, bit, ones};
use serde::{Deserialize, Serialize};

/// Arbitration state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Switch {
    /// Per output: inputs whose head packet goes there.
    wants: Vec<Ports>,
    /// Outputs that some head goes to.
    wanted: Ports,
    /// Inputs whose head packet is known.
    heads: Ports,
    /// Per input: flits left of the head packet.
    left: Vec<u8>,
    /// Per output: the input to be preferred.
    priority: Vec<u8>,
    /// Outputs in the middle of a packet, whose input is the preferred one.
    held: Ports,
}

/// A packet at the head of an input: its output and flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Output port.
    pub output: u32,
    /// Flits.
    pub flits: u8,
}

impl Switch {
    /// A switch with empty inputs. At most [`super::MAX_PORTS`] of each.
    pub fn new(inputs: u32, outputs: u32) -> Self {
        Switch {
            wants: vec![0; outputs as usize],
            wanted: 0,
            heads: 0,
            left: vec![0; inputs as usize],
            priority: vec![0; outputs as usize],
            held: 0,
        }
    }

    /// Whether no input has a packet.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.heads == 0
    }

    /// Whether the switch knows a head packet of an input.
    #[inline]
    pub fn has_head(&self, input: u32) -> bool {
        self.heads & bit(input) != 0
    }

    /// A packet has become the head of an input.
    #[inline]
    pub fn offer(&mut self, input: u32, head: Head) {
        self.heads |= bit(input);
        self.wants[head.output as usize] |= bit(input);
        self.wanted |= bit(head.output);
        self.left[input as usize] = head.flits.max(1);
    }

    /// One cycle: every output that `accepts` a packet moves one flit. `deliver(input, output)` is called for each packet
    /// whose last flit has moved, takes it out of its queue, and gives the input's next head. Returns the flits moved.
    #[inline]
    pub fn cycle<C>(
        &mut self,
        context: &mut C,
        accepts: impl Fn(&C, u32) -> bool,
        mut deliver: impl FnMut(&mut C, u32, u32) -> Option<Head>,
    ) -> u64 {
        let mut flits = 0;
        let mut moved: Ports = 0;
        let wanted = self.wanted;
        for output in ones(wanted) {
            let o = output as usize;
            let wants = self.wants[o] & !moved;
            let input = if self.held & bit(output) != 0 {
                u32::from(self.priority[o])
            } else {
                if wants == 0 || !accepts(context, output) {
                    continue;
                }
                let ahead = wants & bit(self.priority[o].into()).wrapping_neg();
                (if ahead != 0 { ahead } else { wants }).trailing_zeros()
            };
            flits += 1;
            moved |= bit(input);
            let left = &mut self.left[input as usize];
            *left -= 1;
            if *left != 0 {
                self.held |= bit(output);
                self.priority[o] = input as u8;
                continue;
            }
            self.held &= !bit(output);
            self.priority[o] = if input + 1 == self.left.len() as u32 { 0 } else { input as u8 + 1 };
            self.heads &= !bit(input);
            self.wants[o] &= !bit(input);
            if self.wants[o] == 0 {
                self.wanted &= !bit(output);
            }
            if let Some(head) = deliver(context, input, output) {
                self.offer(input, head);
            }
        }
        flits
    }
}

#[cfg(test)]
mod tests;
