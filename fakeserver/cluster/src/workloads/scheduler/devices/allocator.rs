//! The search for devices that meet all requests of some claims on a node.
//!
//! Upstream: `k8s.io/dynamic-resource-allocation/structured` of 1.36. The first solution is taken; the order is that of the
//! claims, their requests and alternatives, and the devices of the pools.

use std::collections::BTreeSet;

use super::{
    pools::{Device, DeviceId, Pool, PoolState},
    requests::{Claim, Request},
};
use crate::workloads::scheduler::node::Node;

/// The devices that a claim can have.
#[doc(alias = "AllocationResultsMaxSize")]
pub(super) const RESULTS_MAX: usize = 32;
/// The steps after which a search is given up, where upstream gives up after ten seconds.
const STEPS_MAX: usize = 100_000;

/// The places of a pool and of a device in it.
type DevicePosition = (usize, usize);

/// A device for a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'a> {
    claim: usize,
    pub(super) request: &'a Request,
    pub(super) device: &'a Device,
    place: DevicePosition,
}

/// A search in progress.
struct Search<'a> {
    claims: &'a [Claim],
    /// The devices that the node can use, of pools that are complete.
    usable: Vec<(DevicePosition, &'a Device)>,
    in_use: &'a BTreeSet<DeviceId>,
    chosen: Vec<Choice<'a>>,
    /// The chosen alternative of each request, by claim.
    alternatives: Vec<Vec<&'a Request>>,
    steps: usize,
}

/// The devices of a claim, and the alternatives that were chosen.
#[derive(Debug)]
pub(super) struct ClaimAllocation<'a> {
    pub(super) requests: Vec<&'a Request>,
    pub(super) choices: Vec<Choice<'a>>,
}

/// Finds devices on a node for all claims; none if there are not enough.
///
/// # Errors
///
/// An expression fails, or a request for all devices cannot be met yet, in upstream's words.
pub(super) fn allocate<'a>(
    claims: &'a [Claim],
    pools: &'a [Pool],
    in_use: &'a BTreeSet<DeviceId>,
    node: &Node,
) -> Result<Option<Vec<ClaimAllocation<'a>>>, String> {
    check_pools(claims, pools, node)?;
    let complete = pools.iter().enumerate();
    let complete = complete.filter(|(_, pool)| pool.state == PoolState::Complete);
    let usable = complete.flat_map(|(pool, of)| {
        let devices = of.devices.iter().enumerate();
        devices.map(move |(device, of)| ((pool, device), of))
    });
    let mut search = Search {
        claims,
        usable: usable.filter(|(_, device)| device.is_on(node)).collect(),
        in_use,
        chosen: Vec::new(),
        alternatives: vec![Vec::new(); claims.len()],
        steps: 0,
    };
    if !search.go_on(0, 0)? {
        let mut served = pools.iter().filter(|pool| pool.serves(node));
        if served.any(|pool| pool.state == PoolState::Invalid) {
            return Err("invalid resource pools were encountered".to_owned());
        }
        return Ok(None);
    }
    let (chosen, alternatives) = (search.chosen, search.alternatives);
    let allocated = alternatives.into_iter().enumerate();
    let allocated = allocated.map(|(claim, requests)| ClaimAllocation {
        requests,
        choices: chosen
            .iter()
            .filter(|choice| choice.claim == claim)
            .copied()
            .collect(),
    });
    Ok(Some(allocated.collect()))
}

/// Refuses a request for all devices where the pools of a node do not say which these are.
fn check_pools(claims: &[Claim], pools: &[Pool], node: &Node) -> Result<(), String> {
    for claim in claims {
        let mut all = claim.requests.iter().flatten();
        let Some(request) = all.find(|request| request.count.is_none()) else {
            continue;
        };
        for pool in pools.iter().filter(|pool| pool.serves(node)) {
            let why = match pool.state {
                PoolState::Complete => continue,
                PoolState::Incomplete => "being updated",
                PoolState::Invalid => "invalid",
            };
            return Err(format!(
                "claim {}, request {}: asks for all devices, but resource pool {} is currently {why}",
                claim.path, request.name, pool.id
            ));
        }
    }
    Ok(())
}

// === impl Search ===

impl<'a> Search<'a> {
    /// Finds devices for a request and all that follow.
    fn go_on(&mut self, claim: usize, request: usize) -> Result<bool, String> {
        let claims = self.claims;
        let Some(of) = claims.get(claim) else {
            return Ok(true);
        };
        let Some(alternatives) = of.requests.get(request) else {
            return self.go_on(claim + 1, 0);
        };
        for alternative in alternatives {
            self.alternatives[claim].truncate(request);
            self.alternatives[claim].push(alternative);
            let all = match alternative.count {
                Some(_) => None,
                None => Some(self.selected(alternative)?),
            };
            let count = all
                .as_ref()
                .map_or(alternative.count, |all| Some(all.len()));
            let count = count.unwrap_or_default();
            let is_small = self.count_of(claim) + count <= RESULTS_MAX;
            if count > 0 && is_small && self.choose(claim, request, count, 0, all.as_deref())? {
                return Ok(true);
            }
        }
        self.alternatives[claim].truncate(request);
        Ok(false)
    }

    /// Finds `count` more devices for the alternative of a request that is tried, from the place `from` on, and those for all
    /// that follows. Of `all` devices it takes the next.
    fn choose(
        &mut self,
        claim: usize,
        request: usize,
        count: usize,
        from: usize,
        all: Option<&[usize]>,
    ) -> Result<bool, String> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err("timed out trying to allocate devices".to_owned());
        }
        if count == 0 {
            return self.go_on(claim, request + 1);
        }
        let wanted = self.alternatives[claim][request];
        let candidates: Vec<usize> = match all {
            Some(all) => vec![all[all.len() - count]],
            None => (from..self.usable.len()).collect(),
        };
        for candidate in candidates {
            let (place, device) = self.usable[candidate];
            let choice = Choice {
                claim,
                request: wanted,
                device,
                place,
            };
            if !self.is_free(&choice) || !wanted.selects(place)? || !self.fits(&choice) {
                continue;
            }
            self.chosen.push(choice);
            if self.choose(claim, request, count - 1, candidate + 1, all)? {
                return Ok(true);
            }
            self.chosen.pop();
            // What follows may have tried other alternatives.
            self.alternatives[claim].truncate(request + 1);
        }
        Ok(false)
    }

    /// Returns the devices that a request selects, whether they are free or not.
    fn selected(&self, request: &Request) -> Result<Vec<usize>, String> {
        let mut selected = Vec::new();
        for (index, (place, _)) in self.usable.iter().enumerate() {
            if request.selects(*place)? {
                selected.push(index);
            }
        }
        Ok(selected)
    }

    fn count_of(&self, claim: usize) -> usize {
        let of_claim = self.chosen.iter().filter(|choice| choice.claim == claim);
        of_claim.count()
    }

    /// Returns whether a device can be chosen: no other claim has it, and no taint forbids it. For administrators it is enough
    /// that the claim has it only once.
    fn is_free(&self, choice: &Choice<'a>) -> bool {
        let mut same = self
            .chosen
            .iter()
            .filter(|other| other.place == choice.place);
        let is_free = if choice.request.has_admin_access {
            !same.any(|other| other.claim == choice.claim)
        } else {
            same.next().is_none() && !self.in_use.contains(&choice.device.id)
        };
        is_free && !choice.device.repels(&choice.request.tolerations)
    }

    /// Returns whether a device meets the constraints of its claim together with those that are chosen already.
    fn fits(&self, choice: &Choice<'a>) -> bool {
        let constraints = self.claims[choice.claim].constraints.iter();
        let mut concerning = constraints.filter(|it| it.concerns(choice.request));
        concerning.all(|constraint| {
            let value = choice.device.attribute(&constraint.attribute);
            let others = self
                .chosen
                .iter()
                .filter(|other| other.claim == choice.claim && constraint.concerns(other.request));
            let mut others = others.map(|other| other.device.attribute(&constraint.attribute));
            value.is_some() && others.all(|other| other == value)
        })
    }
}
