import type { CampaignFailure } from './campaign.js';
import type { Coverage } from './coverage.js';
import { reachableVerdicts } from './expected-coverage.js';
import { isList, type Values, type Value } from '../model/borsh.js';
import { decodeArgs, instructionOf } from '../model/instruction-table.js';
import { endingName } from '../model/errors.js';
import { INSTRUCTION_NAMES, instructionRule } from '../model/instruction-table.js';
import { WAYS } from '../model/errors.js';
import type { Operation } from '../world/operations.js';
import type { Universe } from '../world/universe.js';

/** One line of figures. */
export function summary(coverage: Coverage, seconds: number): string {
  const { instructions, successes } = coverage;
  const share = instructions === 0 ? 0 : (100 * successes) / instructions;
  return (
    `${instructions} instructions in ${seconds.toFixed(0)} s ` +
    `(${(instructions / seconds).toFixed(0)}/s), ${share.toFixed(1)}% succeeded`
  );
}

/** How often each instruction ended in each way, as a table in Markdown. */
export function coverageTable(coverage: Coverage): string {
  const rows = INSTRUCTION_NAMES.flatMap((name) =>
    reachableVerdicts(name).map(
      (verdict) => `| \`${name}\` | ${endingName(verdict)} | ${coverage.count(name, verdict)} |`,
    ),
  );
  const ways = WAYS.map((way) => `| | success: ${way} | ${coverage.wayCount(way)} |`);
  return ['| instruction | ended with | times |', '|---|---|---:|', ...rows, ...ways].join('\n');
}

/** A failure with all that is needed to see it again. */
export function describeFailure(failure: CampaignFailure): string {
  const { message, seed, world, step, operations, universe } = failure;
  return [
    `violation: ${message}`,
    `seed ${seed}, world ${world}, step ${step}; ${operations.length} steps are enough:`,
    ...operations.map((operation, index) => `  ${index + 1}. ${describeOperation(operation, universe)}`),
  ].join('\n');
}

function describeOperation(operation: Operation, universe: Universe): string {
  switch (operation.kind) {
    case 'instruction':
      return describeInstruction(operation, universe);
    case 'clock':
      return `clock ${operation.now}`;
    case 'rent':
      return `rent ${operation.lamportsPerByte} lamports a byte, threshold ${operation.threshold}`;
    case 'donate':
      return `${operation.lamports} lamports arrive at ${universe.label(operation.to)}`;
    case 'fund':
      return `${universe.label(operation.wallet)} now has ${operation.lamports} lamports`;
    case 'plant':
      return (
        `an account of ${universe.label(operation.owner)} appears at ${universe.label(operation.at)}: ` +
        operation.bytes.toString('hex')
      );
    default:
      return `${operation.counter} of ${universe.label(operation.at)} is now ${operation.value}`;
  }
}

function describeInstruction(
  { data, metas, tampered }: Operation & { kind: 'instruction' },
  universe: Universe,
): string {
  const name = data.length < 8 ? null : instructionOf(data);
  const args = name === null ? null : decodeArgs(name, data);
  const values = args === null ? data.toString('hex') : describeArgs(args, universe);
  const accounts = metas.map(({ id, isSigner, isWritable }, index) => {
    const role = (name === null ? undefined : instructionRule(name).accounts[index]?.name) ?? 'extra';
    return `${role}=${universe.label(id)}${isSigner ? ' signs' : ''}${isWritable ? ' w' : ''}`;
  });
  const spoiled =
    tampered === undefined ? '' : `, with ${universe.label(tampered.id)} tampered with (${tampered.how})`;
  return `${name ?? 'no instruction'}(${values}) on [${accounts.join(', ')}]${spoiled}`;
}

function describeArgs(args: Values, universe: Universe): string {
  return Object.entries(args)
    .map(([arg, value]) => `${arg}=${describeValue(value, universe)}`)
    .join(', ');
}

function describeValue(value: Value, universe: Universe): string {
  if (isList(value)) {
    return `[${value.map((member) => `{${describeArgs(member, universe)}}`).join(', ')}]`;
  }
  if (value instanceof Uint8Array) {
    const id = value.length === 32 ? universe.find(value) : null;
    return id === null ? Buffer.from(value).toString('hex') : universe.label(id);
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
