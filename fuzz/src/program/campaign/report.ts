import type { CampaignFailure } from './campaign.js';
import type { Coverage } from './coverage.js';
import { reachableEndings } from './expected-coverage.js';
import { isList, type Value, type Values } from '../model/borsh.js';
import { decodeArgs, INSTRUCTION_NAMES, instructionOf, instructionRule } from '../model/instruction-table.js';
import { WAYS } from '../model/errors.js';
import type { Operation } from '../world/operations.js';
import type { Universe } from '../world/universe.js';

/** One line of figures. */
export function summary({ instructions, successes }: Coverage, seconds: number): string {
  const share = instructions === 0 ? 0 : (100 * successes) / instructions;
  return (
    `${instructions} instructions in ${seconds.toFixed(0)} s ` +
    `(${(instructions / seconds).toFixed(0)}/s), ${share.toFixed(1)}% succeeded`
  );
}

/** The counts of each instruction's endings, as a table in Markdown. */
export function coverageTable(coverage: Coverage): string {
  const rows = INSTRUCTION_NAMES.flatMap((name) =>
    reachableEndings(name).map(
      (ending) => `| \`${name}\` | ${ending} | ${coverage.times('counts', `${name} ${ending}`)} |`,
    ),
  );
  const ways = WAYS.map((way) => `| | success: ${way} | ${coverage.times('ways', way)} |`);
  return ['| instruction | ended with | times |', '|---|---|---:|', ...rows, ...ways].join('\n');
}

/** Describes a failure with all the data to repeat it. */
export function describeFailure(failure: CampaignFailure): string {
  const { message, seed, world, step, operations, universe } = failure;
  return [
    `violation: ${message}`,
    `seed ${seed}, world ${world}, step ${step}; ${operations.length} steps are enough:`,
    ...operations.map((operation, index) => `  ${index + 1}. ${describeOperation(operation, universe)}`),
  ].join('\n');
}

function describeOperation(operation: Operation, universe: Universe): string {
  if (operation.kind !== 'instruction') {
    const { kind, ...values } = operation;
    const addresses = ['at', 'to', 'owner', 'wallet'];
    const described = Object.entries(values).map(([field, value]): [string, Value] => [
      field,
      typeof value === 'number' && addresses.includes(field) ? universe.label(value) : value,
    ]);
    return `${kind} ${describeValues(Object.fromEntries(described), universe)}`;
  }
  const { data, metas, tampered, gift } = operation;
  const name = data.length < 8 ? null : instructionOf(data);
  const args = name === null ? null : decodeArgs(name, data);
  const accounts = metas.map(({ id, isSigner, isWritable }, index) => {
    const role = (name === null ? undefined : instructionRule(name).accounts[index]?.name) ?? 'extra';
    return `${role}=${universe.label(id)}${isSigner ? ' signs' : ''}${isWritable ? ' w' : ''}`;
  });
  return (
    `${name ?? 'no instruction'}(${args === null ? data.toString('hex') : describeValues(args, universe)}) ` +
    `on [${accounts.join(', ')}]` +
    (tampered === undefined ? '' : `, with ${universe.label(tampered.id)} tampered with (${tampered.how})`) +
    (gift === undefined ? '' : `, then ${gift.lamports} lamports for ${universe.label(gift.to)}`)
  );
}

function describeValues(values: Values, universe: Universe): string {
  return Object.entries(values)
    .map(([field, value]) => `${field}=${describeValue(value, universe)}`)
    .join(', ');
}

function describeValue(value: Value, universe: Universe): string {
  if (isList(value)) {
    return `[${value.map((member) => `{${describeValues(member, universe)}}`).join(', ')}]`;
  }
  if (value instanceof Uint8Array) {
    const id = value.length === 32 ? universe.find(value) : null;
    return id === null ? Buffer.from(value).toString('hex') : universe.label(id);
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
