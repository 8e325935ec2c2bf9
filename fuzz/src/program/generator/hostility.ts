import { isList, type Values } from '../model/borsh.js';
import {
  encodeData,
  instructionRule,
  type InstructionName,
  type Meta,
  type StateType,
} from '../model/instruction-table.js';
import { beginsAs, isOfType } from '../model/state.js';
import { TAMPERINGS, type Tampered } from '../world/operations.js';
import type { AddressId, Universe } from '../world/universe.js';
import type { Scene } from './scene.js';

/** An instruction before its encoding, with separate arguments. */
export interface Plan {
  name: InstructionName;
  args: Values;
  metas: Meta[];
  data: Buffer | null;
  tampered?: Tampered | undefined;
}

/** Makes one part of an instruction wrong or unusual. */
export function spoil(plan: Plan, scene: Scene): void {
  const how = scene.weighted([
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
  const { universe } = scene;
  const index = scene.below(metas.length);
  const meta = metas[index];
  const signers = metas.filter(({ isSigner }) => isSigner);
  const writable = metas.filter(({ isWritable }) => isWritable);
  if (how === 'account' && meta !== undefined) {
    meta.id = otherAccount(plan, meta.id, scene);
  } else if (how === 'signer flag') {
    signers.forEach((signer) => (signer.isSigner = false));
  } else if (how === 'writable flag' && writable.length > 0) {
    scene.pick(writable).isWritable = false;
  } else if (how === 'caller' && signers.length > 0) {
    const callers = [...universe.walletIds, ...universe.hostile, universe.systemProgram];
    scene.pick(signers).id = scene.pick(callers);
  } else if (how === 'swap') {
    const other = metas[scene.below(metas.length)];
    if (meta !== undefined && other !== undefined) {
      [meta.id, other.id] = [other.id, meta.id];
    }
  } else if (how === 'count') {
    if (scene.chance(70)) {
      metas.splice(scene.below(metas.length));
    } else {
      metas.push({ id: scene.pick(universe.walletIds), isSigner: false, isWritable: scene.chance(50) });
    }
  } else if (how === 'data') {
    plan.data = spoiledData(encodeData(plan.name, plan.args), scene);
  } else if (how === 'argument') {
    spoilArgument(plan, scene);
  } else if (how === 'tamper') {
    const ours = metas.filter(({ id }) => scene.isOurs(id));
    const id = ours.length > 0 ? scene.pick(ours).id : undefined;
    // The program does not read the treasury's data, so it would pay a tampered treasury.
    if (id !== undefined && id !== scene.protocol?.treasury) {
      plan.tampered = { id, how: scene.pick(TAMPERINGS) };
    }
  }
}

function otherAccount({ metas }: Plan, id: AddressId, scene: Scene): AddressId {
  const { universe } = scene;
  return scene.pick([
    () => scene.pick(universe.walletIds),
    () => scene.pick(universe.hostile),
    () => scene.pick(universe.hostile),
    () => scene.pick(universe.nonCanonical),
    () => sibling(universe, id, scene),
    () => sibling(universe, id, scene),
    () => forgeryOf(scene, id),
    () => scene.pick(metas).id,
    () => scene.pick([universe.clockSysvar, universe.rentSysvar, universe.systemProgram, universe.program]),
    () => scene.pick([universe.absent, universe.protocol, universe.programData]),
    () => scene.pick(universe.listings),
  ])();
}

/** The bytes of an account that the program owns and that is not valid, else null. */
function foreignBytes({ universe, ledger }: Scene, id: AddressId): Buffer | null {
  const { owner, data } = ledger.get(id);
  return owner === universe.program && data.type === 'raw' ? data.bytes : null;
}

/** The address of a forged copy of an account's type, or another hostile address. */
function forgeryOf(scene: Scene, id: AddressId): AddressId {
  const { type } = scene.ledger.get(id).data;
  const { hostile } = scene.universe;
  const forged = hostile.filter((slot) => {
    const bytes = foreignBytes(scene, slot);
    return bytes !== null && type !== 'raw' && beginsAs(bytes, type);
  });
  return scene.pick(forged.length > 0 ? forged : hostile);
}

/** Whether an address has a forged copy of an account of one of these types. */
export function isForged(scene: Scene, id: AddressId, types: readonly StateType[]): boolean {
  const bytes = foreignBytes(scene, id);
  return bytes !== null && types.some((type) => isOfType(bytes, type));
}

/** An address of the same kind for another listing or another buyer. */
function sibling(universe: Universe, id: AddressId, scene: Scene): AddressId {
  const provenance = universe.provenance(id);
  if (provenance === null) {
    return scene.pick(universe.walletIds);
  }
  const { kind, seeds } = provenance;
  const listing = scene.pick(universe.listings);
  if (kind === 'escrow') {
    return universe.derived(kind, listing) ?? id;
  }
  if (kind !== 'access_credential' && kind !== 'per_query_balance') {
    return kind === 'listing' ? listing : scene.pick(universe.listings);
  }
  const [buyer = id, same = listing] = seeds;
  const otherBuyer = scene.pick(universe.walletIds);
  const wanted = scene.chance(50) ? [otherBuyer, same] : [buyer, listing];
  return universe.derived(kind, ...wanted) ?? id;
}

/** An instruction's data with a cut, with more bytes, or with a changed byte. */
function spoiledData(data: Buffer, scene: Scene): Buffer {
  const changed = (at: number, change: (byte: number) => number): Buffer => {
    const copy = Buffer.from(data);
    copy[at] = change(copy[at] ?? 0);
    return copy;
  };
  switch (scene.below(5)) {
    case 0:
      return data.subarray(0, scene.below(data.length));
    case 1:
      return Buffer.concat([data, Buffer.alloc(1 + scene.below(3))]);
    case 2:
      return changed(scene.below(data.length), (byte) => byte ^ (1 << scene.below(8)));
    case 3:
      return changed(Math.min(data.length - 1, 8 + scene.below(data.length)), () =>
        scene.pick([2, 3, 0xff, 0xc0]),
      );
    default:
      return data.subarray(0, 8 + scene.below(Math.max(1, data.length - 8)));
  }
}

const TEXTS = ['', 'b', 'x'.repeat(31), 'x'.repeat(33), 'u'.repeat(201), 'ü'.repeat(101)];

/** Changes one argument to a value at a limit, or to an invalid one. */
function spoilArgument({ name: instruction, args }: Plan, scene: Scene): void {
  const fields = instructionRule(instruction).args;
  if (fields.length === 0) {
    return;
  }
  const [name, type] = scene.pick(fields);
  const old = args[name];
  const { universe } = scene;
  const plain = type.replace('?', '');
  if (isList(old)) {
    args[name] = spoilList(old, scene);
  } else if (plain === 'u64') {
    args[name] = typeof old === 'bigint' ? scene.amountNear(old) : scene.amountNear();
  } else if (plain === 'model') {
    args[name] = scene.pick([0, 1, 2, 3, 255]);
  } else if (plain === 'pubkey') {
    args[name] = universe.key(
      scene.pick([universe.systemProgram, universe.clockSysvar, ...universe.walletIds]),
    );
  } else if (plain === 'string') {
    args[name] = scene.pick(TEXTS);
  }
}

/** A list with one more member, one less, two swapped ones, or a changed number in one of them. */
function spoilList(members: readonly Values[], scene: Scene): Values[] {
  const [first, other] = [scene.below(members.length + 1), scene.below(members.length + 1)];
  const made: Values = { sequence: 1n, run_id: Buffer.alloc(16), price_lamports: 1n };
  const member = members[first] ?? members[0] ?? made;
  switch (scene.below(5)) {
    case 0:
      return members.toSpliced(first, 0, member);
    case 1:
      return members.toSpliced(first, 1);
    case 2:
      return members.map(
        (each, index) => members[index === first ? other : index === other ? first : index] ?? each,
      );
    default: {
      const field = scene.pick(['sequence', 'price_lamports']);
      const old = member[field];
      const changed = { ...member, [field]: scene.amountNear(typeof old === 'bigint' ? old : 0n) };
      return members.map((each) => (each === member ? changed : each));
    }
  }
}
