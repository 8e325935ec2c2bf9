import type { StateType } from '../model/instruction-table.js';
import { beginsAs, isOfType } from '../model/state.js';
import { TAMPERINGS } from '../world/operations.js';
import type { Random } from '@agent-rental/test/support/random';
import type { AddressId, PdaKind, Universe } from '../world/universe.js';
import type { Plan } from './plan.js';
import { spoilArgument, spoiledData } from './spoiled-data.js';
import type { View } from './view.js';

/** Makes one thing about an instruction wrong, or at least strange. */
export function spoil(plan: Plan, view: View, random: Random): void {
  const how = random.weighted([
    ['account', 34],
    ['signer flag', 10],
    ['writable flag', 12],
    ['caller', 12],
    ['swap', 6],
    ['count', 5],
    ['data', 8],
    ['argument', 9],
    ['tamper', 6],
  ]);
  const { metas } = plan;
  const index = random.below(metas.length);
  switch (how) {
    case 'account':
      replaceAccount(plan, index, view, random);
      break;
    case 'signer flag':
      metas.filter(({ isSigner }) => isSigner).forEach((meta) => (meta.isSigner = false));
      break;
    case 'writable flag': {
      const writable = metas.filter(({ isWritable }) => isWritable);
      if (writable.length > 0) {
        random.pick(writable).isWritable = false;
      }
      break;
    }
    case 'caller': {
      const signers = metas.filter(({ isSigner }) => isSigner);
      if (signers.length > 0) {
        const { universe } = view;
        random.pick(signers).id = random.pick([
          ...universe.walletIds,
          ...universe.hostile,
          universe.systemProgram,
        ]);
      }
      break;
    }
    case 'swap': {
      const other = random.below(metas.length);
      const [a, b] = [metas[index], metas[other]];
      if (a !== undefined && b !== undefined) {
        [a.id, b.id] = [b.id, a.id];
      }
      break;
    }
    case 'count':
      if (random.chance(70)) {
        metas.splice(random.below(metas.length));
      } else {
        metas.push({
          id: random.pick(view.universe.walletIds),
          isSigner: false,
          isWritable: random.chance(50),
        });
      }
      break;
    case 'data':
      plan.data = spoiledData(plan, random);
      break;
    case 'argument':
      spoilArgument(plan, view, random);
      break;
    case 'tamper': {
      const ours = metas.filter(({ id }) => view.ledger.get(id).data.type !== 'raw');
      const treasury = view.protocol?.treasury;
      const chosen = ours.length > 0 ? random.pick(ours).id : undefined;
      // The treasury's data is not looked at, so that a tampered one would be paid and not refused.
      if (chosen !== undefined && chosen !== treasury) {
        plan.tampered = { id: chosen, how: random.pick(TAMPERINGS) };
      }
      break;
    }
  }
}

function replaceAccount(plan: Plan, index: number, view: View, random: Random): void {
  const { universe } = view;
  const meta = plan.metas[index];
  if (meta === undefined) {
    return;
  }
  meta.id = random.pick([
    () => random.pick(universe.walletIds),
    () => random.pick(universe.hostile),
    () => random.pick(universe.hostile),
    () => random.pick(universe.nonCanonical),
    () => sibling(universe, meta.id, random),
    () => sibling(universe, meta.id, random),
    () => forgeryOf(view, meta.id, random),
    () => random.pick(plan.metas).id,
    () => random.pick([universe.clockSysvar, universe.rentSysvar, universe.systemProgram, universe.program]),
    () => random.pick([universe.absent, universe.protocol, universe.programData]),
    () => random.pick(universe.listings),
  ])();
}

/** Where a forged copy of an account's type is, if one was planted. */
function forgeryOf(view: View, id: AddressId, random: Random): AddressId {
  const { universe, ledger } = view;
  const { type } = ledger.get(id).data;
  const forged = universe.hostile.filter((slot) => {
    const { owner, data } = ledger.get(slot);
    const isRaw = owner === universe.program && data.type === 'raw';
    return isRaw && type !== 'raw' && beginsAs(data.bytes, type);
  });
  return random.pick(forged.length > 0 ? forged : universe.hostile);
}

/** Whether a full copy of an account of one of these types is at an address where the program would never have put it. */
export function isForged(view: View, id: AddressId, types: readonly StateType[]): boolean {
  const { owner, data } = view.ledger.get(id);
  return (
    owner === view.universe.program && data.type === 'raw' && types.some((type) => isOfType(data.bytes, type))
  );
}

/** An address of the same kind, of another listing or another buyer. */
function sibling(universe: Universe, id: AddressId, random: Random): AddressId {
  const provenance = universe.provenance(id);
  if (provenance === null) {
    return random.pick(universe.walletIds);
  }
  const kind: PdaKind = provenance.kind;
  const listing = random.pick(universe.listings);
  switch (kind) {
    case 'protocol':
    case 'program_data':
      return random.pick(universe.listings);
    case 'listing':
      return listing;
    case 'escrow':
      return universe.derived('escrow', listing) ?? id;
    default: {
      const [buyer, same] = provenance.seeds;
      const otherBuyer = random.pick(universe.walletIds);
      return random.chance(50)
        ? (universe.derived(kind, otherBuyer, same ?? listing) ?? id)
        : (universe.derived(kind, buyer ?? otherBuyer, listing) ?? id);
    }
  }
}
