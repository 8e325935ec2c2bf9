import { isList, type Values } from '../model/borsh.js';
import { encodeData } from '../model/instruction-table.js';
import { instructionRule } from '../model/instruction-table.js';
import type { Random } from '@agent-rental/test/support/random';
import { amountNear } from './amounts.js';
import type { Plan } from './plan.js';
import type { View } from './view.js';

/** The data of an instruction cut, with bytes behind it, or with a byte changed. */
export function spoiledData(plan: Plan, random: Random): Buffer {
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

/** Changes one argument to what is at a limit, or makes no sense. */
export function spoilArgument(plan: Plan, view: View, random: Random): void {
  const { args } = instructionRule(plan.name);
  if (args.length === 0) {
    return;
  }
  const [name, type] = random.pick(args);
  const old = plan.args[name] ?? null;
  if (isList(old)) {
    plan.args[name] = spoilList(old, random);
    return;
  }
  const inner = type.replace('?', '');
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

/** A list with a member more, one less, two that changed places, or a number in one of them changed. */
function spoilList(members: readonly Values[], random: Random): Values[] {
  const [first, other] = [random.below(members.length + 1), random.below(members.length + 1)];
  const member = members[first] ??
    members[0] ?? { sequence: 1n, run_id: Buffer.alloc(16), price_lamports: 1n };
  switch (random.below(5)) {
    case 0:
      return [...members.slice(0, first), member, ...members.slice(first)];
    case 1:
      return members.filter((_, index) => index !== first);
    case 2:
      return members.map(
        (each, index) => members[index === first ? other : index === other ? first : index] ?? each,
      );
    default: {
      const amounts = Object.entries(member).filter(([, value]) => typeof value === 'bigint');
      const [field, old] = random.pick(amounts);
      const changed = { ...member, [field]: amountNear(random, typeof old === 'bigint' ? old : 0n) };
      return members.map((each) => (each === member ? changed : each));
    }
  }
}
