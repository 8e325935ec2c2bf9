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
 * Forgeable accounts that an instruction identifies by the seeds in their fields. It would accept a full copy at another address,
 * but no wallet can make one.
 */
const KNOWN_BY_FIELDS: Partial<Record<InstructionName, readonly StateType[]>> = {
  consume_query: ['escrow'],
  consume_queries: ['escrow', 'per_query_balance'],
};

/** The shares of special steps and instructions, in per cent. */
const PERCENT = {
  /** Steps without an instruction, and steps that prepare the protocol's creation. */
  environment: 12,
  prelude: 30,
  /** Instructions with a deliberate fault, and with a second fault. */
  spoiled: 42,
  spoiledTwice: 15,
  /** Instructions whose payer has about enough lamports. */
  tight: 5,
  /** Instructions with a wallet near 2^64 lamports. */
  brimful: 5,
  /** Instructions whose payer's account has data or another owner. */
  oddPayer: 3,
  /** Transactions with a transfer after the instruction, and transfers to an unrelated address. */
  gift: 7,
  giftApart: 25,
};

/** Makes the next steps of a world. */
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
  // More often before the protocol's creation, because a world creates it only once.
  if (scene.chance(scene.protocol === null ? 2 * PERCENT.oddPayer : PERCENT.oddPayer)) {
    return withOddPayer(operation, scene);
  }
  return scene.chance(PERCENT.tight) ? onTightBudget(operation, scene) : [operation];
}

/** Sets a wallet's lamports for one instruction, and restores them. */
function whileFunded(wallet: AddressId, lamports: bigint, operation: Instruction, scene: Scene): Operation[] {
  const before = scene.ledger.get(wallet).lamports;
  return [{ kind: 'fund', wallet, lamports }, operation, { kind: 'fund', wallet, lamports: before }];
}

/** The instruction with a wallet near 2^64 lamports, which it pays or which gets a lamport after it. */
function withBrimfulWallet(operation: Instruction, scene: Scene): Operation[] {
  const { walletIds } = scene.universe;
  const named = operation.metas.filter(({ id, isWritable }) => isWritable && walletIds.includes(id));
  const to = scene.chance(70) && named.length > 0 ? scene.pick(named).id : scene.pick(walletIds);
  const isGiven = operation.tampered === undefined && scene.chance(60);
  const lamports = U64_MAX - scene.pick([0n, 0n, 1n]);
  const given = isGiven ? { ...operation, gift: { to, lamports: 1n } } : operation;
  return whileFunded(to, lamports, given, scene);
}

/** The instruction with a payer that cannot spend, such as a nonce account. The payer is a wallet again afterwards. */
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

/** The instruction with about the lamports that its payer, the first writable signer, spends. */
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

/** Sometimes a transfer to one of the accounts in the same transaction. It must not revive a closed account. */
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
