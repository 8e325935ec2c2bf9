import { encodeData, metasOf, type InstructionName, type StateType } from '../model/instruction-table.js';
import { rentExemptMinimum } from '../model/ledger.js';
import { U64_MAX } from '../model/money.js';
import { predict } from '../model/predict.js';
import type { Gift, Operation } from '../world/operations.js';
import type { AddressId } from '../world/universe.js';
import { effectiveMetas } from '../world/wire.js';
import { environment, prelude } from './environment.js';
import { isForged, spoil, type Plan } from './hostility.js';
import { INTENTIONS } from './intentions.js';
import { chooseInstruction } from './prospects.js';
import { clamp, type Scene } from './scene.js';

type Instruction = Operation & { kind: 'instruction' };

/**
 * Which accounts an instruction knows by the seeds in their fields, among those that can be forged. It would take a full
 * copy at another address, which no wallet can make.
 */
const KNOWN_BY_FIELDS: Partial<Record<InstructionName, readonly StateType[]>> = {
  consume_query: ['escrow'],
  consume_queries: ['escrow', 'per_query_balance'],
};

/** How many of a hundred steps or instructions are special, each kind for itself. */
const PERCENT = {
  /** Steps that are no instruction, and those before the protocol exists that prepare its creation. */
  environment: 12,
  prelude: 30,
  /** Instructions made wrong on purpose, and of those once more. */
  spoiled: 42,
  spoiledTwice: 15,
  /** Instructions that a wallet pays which has just enough, or not quite. */
  tight: 5,
  /** Instructions with a wallet among their accounts that can take hardly a lamport more. */
  brimful: 5,
  /** Instructions that a key pays whose account holds data or is a program's. */
  oddPayer: 3,
  /** Transactions with a transfer behind the instruction, and of those to an address apart from it. */
  gift: 7,
  giftApart: 25,
};

/** Makes up the next steps of a world. */
export function nextOperations(scene: Scene): Operation[] {
  if (scene.protocol === null && scene.chance(PERCENT.prelude)) {
    return [prelude(scene)];
  }
  if (scene.chance(PERCENT.environment)) {
    return [environment(scene)];
  }
  const operation = instruction(scene);
  if (scene.chance(PERCENT.brimful)) {
    return withBrimfulWallet(operation, scene);
  }
  // A world sees the beginning of the protocol once: what can happen there must not become too rare.
  if (scene.chance(scene.protocol === null ? 2 * PERCENT.oddPayer : PERCENT.oddPayer)) {
    return withOddPayer(operation, scene);
  }
  return scene.chance(PERCENT.tight) ? onTightBudget(operation, scene) : [operation];
}

/** An instruction while a wallet has other lamports than before and afterwards. */
function whileFunded(wallet: AddressId, lamports: bigint, operation: Instruction, scene: Scene): Operation[] {
  const before = scene.ledger.get(wallet).lamports;
  return [{ kind: 'fund', wallet, lamports }, operation, { kind: 'fund', wallet, lamports: before }];
}

/** The same, with a wallet that it pays, or that is given a lamport behind it, near 2^64 lamports. */
function withBrimfulWallet(operation: Instruction, scene: Scene): Operation[] {
  const { walletIds } = scene.universe;
  const named = operation.metas.filter(({ id, isWritable }) => isWritable && walletIds.includes(id));
  const to = scene.chance(70) && named.length > 0 ? scene.pick(named).id : scene.pick(walletIds);
  const isGiven = operation.tampered === undefined && scene.chance(60);
  const lamports = U64_MAX - scene.pick([0n, 0n, 1n]);
  const given = isGiven ? { ...operation, gift: { to, lamports: 1n } } : operation;
  return whileFunded(to, lamports, given, scene);
}

/** The same, by a payer that the System program lets spend nothing, as a nonce account is; and a wallet again afterwards. */
function withOddPayer(operation: Instruction, scene: Scene): Operation[] {
  const { universe, ledger } = scene;
  const payer = operation.metas.find(
    ({ id, isSigner, isWritable }) => isSigner && isWritable && universe.walletIds.includes(id),
  )?.id;
  if (payer === undefined) {
    return [operation];
  }
  const { lamports } = ledger.get(payer);
  const owned = (owner: AddressId, size: number): Operation => ({
    kind: 'plant',
    at: payer,
    owner,
    bytes: Buffer.alloc(size),
    lamports,
  });
  const odd = scene.pick([owned(universe.systemProgram, 80), owned(universe.otherProgram, 0)]);
  return [odd, operation, owned(universe.systemProgram, 0)];
}

/** The same, with the first writable signer's lamports set about what it will spend. */
function onTightBudget(operation: Instruction, scene: Scene): Operation[] {
  const { ledger, universe } = scene;
  const payer = operation.metas.find(({ isSigner, isWritable }) => isSigner && isWritable)?.id;
  if (payer === undefined) {
    return [operation];
  }
  const { draft } = predict(ledger, operation.data, effectiveMetas(universe, operation.metas));
  const spent = ledger.get(payer).lamports - draft.read(payer).lamports;
  const least = rentExemptMinimum(ledger.rent, 0);
  const lamports = clamp(spent + scene.pick([-least, -1n, 0n, 1n, least - 1n, least]));
  return whileFunded(payer, lamports, operation, scene);
}

function instruction(scene: Scene): Instruction {
  const { universe } = scene;
  const name = chooseInstruction(scene);
  const { accounts, behind = [], tampered, args } = INTENTIONS[name](scene);
  const named = metasOf(name, accounts, universe.absent);
  const plan: Plan = { name, args, metas: [...named, ...behind], data: null, tampered };
  if (scene.chance(PERCENT.spoiled)) {
    spoil(plan, scene);
    if (scene.chance(PERCENT.spoiledTwice) && plan.metas.length > 0) {
      spoil(plan, scene);
    }
  }
  const known = KNOWN_BY_FIELDS[name] ?? [];
  plan.metas.forEach((meta) => (meta.id = isForged(scene, meta.id, known) ? universe.absent : meta.id));
  return {
    kind: 'instruction',
    data: plan.data ?? encodeData(name, plan.args),
    metas: plan.metas.map((meta) => ({ ...meta, isSigner: meta.isSigner && universe.canSign(meta.id) })),
    ...(plan.tampered === undefined ? giftFor(plan, scene) : { tampered: plan.tampered }),
  };
}

/** Sometimes lamports for one of the accounts in the same transaction: a closed one must not come back to life by it. */
function giftFor({ metas }: Plan, scene: Scene): { gift?: Gift } {
  const { universe } = scene;
  const takers = metas.filter(({ id }) => !universe.reserved.includes(id));
  if (takers.length === 0 || !scene.chance(PERCENT.gift)) {
    return {};
  }
  const to = scene.chance(PERCENT.giftApart)
    ? scene.pick([universe.absent, ...universe.nonCanonical])
    : scene.chance(50)
      ? takers.at(-1)?.id
      : scene.pick(takers).id;
  const least = rentExemptMinimum(scene.ledger.rent, 0);
  const lamports = scene.pick([1n, least, 5_000_000n, 5_000_000n]);
  return to === undefined ? {} : { gift: { to, lamports } };
}
