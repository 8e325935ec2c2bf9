import { encodeData } from '../model/instruction-table.js';
import { instructionRule, type InstructionName, type StateType } from '../model/instruction-table.js';
import { rentExemptMinimum } from '../model/ledger.js';
import { U64_MAX } from '../model/money.js';
import { predict } from '../model/predict.js';
import type { Gift, Operation } from '../world/operations.js';
import type { Random } from '@agent-rental/test/support/random';
import type { AddressId } from '../world/universe.js';
import { effectiveMetas, isReserved } from '../world/wire.js';
import { clamp } from './amounts.js';
import { environment, prelude } from './environment.js';
import { isForged, spoil } from './hostility.js';
import { INTENTIONS } from './intentions.js';
import type { Plan } from './plan.js';
import { isPromising } from './prospects.js';
import type { View } from './view.js';

type Instruction = Operation & { kind: 'instruction' };

/** How often each instruction is tried. */
const WEIGHTS: readonly (readonly [InstructionName, number])[] = [
  ['initialize_protocol', 2],
  ['update_protocol', 8],
  ['create_listing', 12],
  ['update_listing', 10],
  ['close_listing', 3],
  ['purchase_one_time', 9],
  ['purchase_subscription', 9],
  ['purchase_per_query', 10],
  ['renew_subscription', 9],
  ['topup_balance', 10],
  ['consume_query', 24],
  ['consume_queries', 18],
  ['revoke_access', 4],
  ['revoke_per_query_access', 6],
  ['withdraw_earnings', 8],
  ['verify_access', 7],
];

/**
 * Which accounts an instruction knows by the seeds in their fields, among those that can be forged. It would take a full
 * copy at another address, which no wallet can make.
 */
const KNOWN_BY_FIELDS: Partial<Record<InstructionName, readonly StateType[]>> = {
  consume_query: ['escrow'],
  consume_queries: ['escrow', 'per_query_balance'],
};

/** How many of a hundred steps are something other than an instruction. */
const ENVIRONMENT_PERCENT = 12;

/** How many of a hundred instructions are made wrong on purpose, and of those once more. */
const SPOILED_PERCENT = 42;
const SPOILED_TWICE_PERCENT = 15;

/** Before the protocol exists, how many of a hundred steps prepare what its creation looks at. */
const PRELUDE_PERCENT = 30;

/** How many of a hundred instructions that cannot succeed now are tried all the same. */
const HOPELESS_PERCENT = 8;

/** How many of a hundred instructions are paid for by a wallet that has just enough, or not quite. */
const TIGHT_PERCENT = 5;

/** How many of a hundred instructions have a wallet among their accounts that can take hardly a lamport more. */
const BRIMFUL_PERCENT = 5;

/** How many of a hundred instructions are paid for by a key whose account holds data or is a program's. */
const ODD_PAYER_PERCENT = 3;

/** How many of a hundred transactions hold a transfer behind the instruction, and of those to an address apart from it. */
const GIFT_PERCENT = 7;
const GIFT_APART_PERCENT = 25;

/** Makes up the next steps of a world. */
export function nextOperations(view: View, random: Random): Operation[] {
  if (view.protocol === null && random.chance(PRELUDE_PERCENT)) {
    return [prelude(view, random)];
  }
  if (random.chance(ENVIRONMENT_PERCENT)) {
    return [environment(view, random)];
  }
  const operation = instruction(view, random);
  if (random.chance(BRIMFUL_PERCENT)) {
    return withBrimfulWallet(operation, view, random);
  }
  // A world sees the beginning of the protocol once: what can happen there must not become too rare.
  if (random.chance(view.protocol === null ? 2 * ODD_PAYER_PERCENT : ODD_PAYER_PERCENT)) {
    return withOddPayer(operation, view, random);
  }
  return random.chance(TIGHT_PERCENT) ? onTightBudget(operation, view, random) : [operation];
}

/** The same, with a wallet that it pays, or that is given a lamport behind it, near 2^64 lamports; and back afterwards. */
function withBrimfulWallet(operation: Instruction, view: View, random: Random): Operation[] {
  const { walletIds } = view.universe;
  const named = operation.metas.filter(({ id, isWritable }) => isWritable && walletIds.includes(id));
  const wallet = random.chance(70) && named.length > 0 ? random.pick(named).id : random.pick(walletIds);
  const before = view.ledger.get(wallet).lamports;
  const gift = { to: wallet, lamports: 1n };
  const isGiven = operation.tampered === undefined && random.chance(60);
  return [
    { kind: 'fund', wallet, lamports: U64_MAX - random.pick([0n, 0n, 1n]) },
    isGiven ? { ...operation, gift } : operation,
    { kind: 'fund', wallet, lamports: before },
  ];
}

/** The same, by a payer that the System program lets spend nothing, as a nonce account is; and a wallet again afterwards. */
function withOddPayer(operation: Instruction, view: View, random: Random): Operation[] {
  const { universe, ledger } = view;
  const payer = operation.metas.find(
    ({ id, isSigner, isWritable }) => isSigner && isWritable && universe.walletIds.includes(id),
  )?.id;
  if (payer === undefined) {
    return [operation];
  }
  const { lamports } = ledger.get(payer);
  const owned = (owner: AddressId, bytes: Buffer): Operation => ({
    kind: 'plant',
    at: payer,
    owner,
    bytes,
    lamports,
  });
  const odd = random.pick([
    owned(universe.systemProgram, Buffer.alloc(80)),
    owned(universe.otherProgram, Buffer.alloc(0)),
  ]);
  return [odd, operation, owned(universe.systemProgram, Buffer.alloc(0))];
}

/** The same, with the first writable signer's lamports set about what it will spend, and back afterwards. */
function onTightBudget(operation: Instruction, view: View, random: Random): Operation[] {
  const payer = operation.metas.find(({ isSigner, isWritable }) => isSigner && isWritable)?.id;
  if (payer === undefined) {
    return [operation];
  }
  const { draft } = predict(view.ledger, operation.data, effectiveMetas(view.universe, operation.metas));
  const before = view.ledger.get(payer).lamports;
  const spent = before - draft.read(payer).lamports;
  const least = rentExemptMinimum(view.ledger.rent, 0);
  const lamports = clamp(spent + random.pick([-least, -1n, 0n, 1n, least - 1n, least]));
  return [
    { kind: 'fund', wallet: payer, lamports },
    operation,
    { kind: 'fund', wallet: payer, lamports: before },
  ];
}

function instruction(view: View, random: Random): Instruction {
  const name = chooseInstruction(view, random);
  const { accounts, behind = [], tampered, args } = INTENTIONS[name](view, random);
  const named = instructionRule(name).accounts.map((rule) => ({
    id: accounts[rule.name] ?? view.universe.absent,
    isSigner: rule.signer === true,
    isWritable: rule.writable === true,
  }));
  const plan: Plan = { name, args, metas: [...named, ...behind], data: null };
  if (tampered !== undefined) {
    plan.tampered = tampered;
  }
  if (random.chance(SPOILED_PERCENT)) {
    spoil(plan, view, random);
    if (random.chance(SPOILED_TWICE_PERCENT) && plan.metas.length > 0) {
      spoil(plan, view, random);
    }
  }
  const known = KNOWN_BY_FIELDS[name] ?? [];
  plan.metas.forEach((meta) => (meta.id = isForged(view, meta.id, known) ? view.universe.absent : meta.id));
  return {
    kind: 'instruction',
    data: plan.data ?? encodeData(name, plan.args),
    metas: plan.metas.map((meta) => ({ ...meta, isSigner: meta.isSigner && view.universe.canSign(meta.id) })),
    ...(plan.tampered === undefined ? {} : { tampered: plan.tampered }),
    ...giftFor(plan, view, random),
  };
}

/** Sometimes lamports for one of the accounts in the same transaction: a closed one must not come back to life by it. */
function giftFor(plan: Plan, view: View, random: Random): { gift?: Gift } {
  const takers = plan.metas.filter(({ id }) => !isReserved(view.universe, id));
  if (takers.length === 0 || plan.tampered !== undefined || !random.chance(GIFT_PERCENT)) {
    return {};
  }
  const to = random.chance(GIFT_APART_PERCENT)
    ? random.pick([view.universe.absent, ...view.universe.nonCanonical])
    : random.chance(50)
      ? takers.at(-1)?.id
      : random.pick(takers).id;
  const least = rentExemptMinimum(view.ledger.rent, 0);
  const lamports = random.pick([1n, least, 5_000_000n, 5_000_000n]);
  return to === undefined ? {} : { gift: { to, lamports } };
}

function chooseInstruction(view: View, random: Random): InstructionName {
  if (view.protocol === null) {
    return random.chance(50) ? 'initialize_protocol' : random.weighted(WEIGHTS);
  }
  if (view.protocol.paused && random.chance(20)) {
    return 'update_protocol';
  }
  for (;;) {
    const name = random.weighted(WEIGHTS);
    if (random.chance(HOPELESS_PERCENT) || isPromising(name, view)) {
      return name;
    }
  }
}
