import { encodeData, type Args } from '../model/arguments.js';
import type { Meta } from '../model/call.js';
import { instructionRule, type InstructionName } from '../model/instruction-table.js';
import { STATE_DISCRIMINATORS, STATE_SIZES } from '../model/state.js';
import { TAMPERINGS, type Tampering } from '../world/operations.js';
import type { Random } from '@agent-rental/test/support/random';
import type { AddressId, PdaKind, Universe } from '../world/universe.js';
import { amountNear } from './amounts.js';
import type { View } from './view.js';

/** An instruction before it is written: what an operation takes, with the arguments still apart. */
export interface Plan {
  name: InstructionName;
  args: Args;
  metas: Meta[];
  data: Buffer | null;
  tampered?: { id: AddressId; how: Tampering };
}

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
    return (
      owner === universe.program &&
      type !== 'raw' &&
      data.type === 'raw' &&
      STATE_DISCRIMINATORS[type].compare(data.bytes, 0, 8) === 0
    );
  });
  return random.pick(forged.length > 0 ? forged : universe.hostile);
}

/**
 * Whether a full copy of an escrow is at an address where the program would never have put it. A charge knows the escrow
 * by the listing in it and would take the copy, which no wallet can make.
 */
export function isForgedEscrow(view: View, id: AddressId): boolean {
  const { owner, data } = view.ledger.get(id);
  return (
    owner === view.universe.program &&
    data.type === 'raw' &&
    data.bytes.length === STATE_SIZES.escrow &&
    STATE_DISCRIMINATORS.escrow.compare(data.bytes, 0, 8) === 0
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

function spoiledData(plan: Plan, random: Random): Buffer {
  const data = encodeData(plan.name, plan.args);
  switch (random.below(5)) {
    case 0:
      return data.subarray(0, random.below(data.length));
    case 1:
      return Buffer.concat([data, Buffer.alloc(1 + random.below(3))]);
    case 2: {
      const at = random.below(data.length);
      const copy = Buffer.from(data);
      copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
      return copy;
    }
    case 3: {
      const copy = Buffer.from(data);
      const at = Math.min(data.length - 1, 8 + random.below(data.length));
      copy[at] = random.pick([2, 3, 0xff, 0xc0]);
      return copy;
    }
    default:
      return Buffer.from(data.subarray(0, 8 + random.below(Math.max(1, data.length - 8))));
  }
}

function spoilArgument(plan: Plan, view: View, random: Random): void {
  const { args } = instructionRule(plan.name);
  if (args.length === 0) {
    return;
  }
  const [name, type] = random.pick(args);
  const inner = typeof type === 'object' ? type.option : type;
  const old = plan.args[name];
  if (inner === 'u64') {
    plan.args[name] = typeof old === 'bigint' ? amountNear(random, old) : amountNear(random);
  } else if (inner === 'model') {
    plan.args[name] = random.pick([0, 1, 2, 3, 255]);
  } else if (inner === 'pubkey') {
    const { universe } = view;
    plan.args[name] = universe.key(
      random.pick([universe.systemProgram, universe.clockSysvar, ...universe.walletIds]),
    );
  } else if (inner === 'string') {
    plan.args[name] = random.pick([
      '',
      'b',
      'x'.repeat(31),
      'x'.repeat(33),
      'u'.repeat(201),
      'ü'.repeat(101),
    ]);
  }
}
