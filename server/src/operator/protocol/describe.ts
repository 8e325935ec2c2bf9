import {
  decodeInstruction,
  MARKETPLACE_IDL,
  type BorshValue,
  type MarketplaceEvent,
  type Protocol,
} from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import type { Deployment } from './deployment.js';
import type { Plan } from './plan.js';

/** Lamports of the network for a transaction with one signature. */
const FEE_LAMPORTS = 5_000n;

/** A transaction in words: its instruction, accounts, values, signers and cost. */
export function describePlan(plan: Plan, programId: PublicKey, genesisHash: string): string {
  const { instruction, signer, rentLamports } = plan;
  const decoded = decodeInstruction(instruction.data, instruction.keys);
  if (!decoded) throw new Error('The transaction cannot be read back.');
  const described = MARKETPLACE_IDL.instructions.find(({ name }) => name === decoded.name);
  const accounts = instruction.keys.map(({ pubkey, isSigner, isWritable }, index): Row => {
    const flags = [...(isSigner ? ['signs'] : []), ...(isWritable ? ['writable'] : [])];
    const isOmitted = described?.accounts[index]?.optional === true && pubkey.equals(programId);
    const name = described?.accounts[index]?.name ?? `account ${index}`;
    return [name, isOmitted ? 'none' : [pubkey.toBase58(), ...flags].join('  ')];
  });
  const args = Object.entries(decoded.args).map(([name, value]): Row => [name, valueText(value)]);
  return [
    ...table([
      ['cluster', `genesis hash ${genesisHash}`],
      ['program', programId.toBase58()],
      ['instruction', decoded.name],
    ]),
    'accounts',
    ...table(accounts),
    ...(args.length > 0 ? ['arguments', ...table(args)] : []),
    'cost',
    ...table([
      ['signed by', `${signer.address.toBase58()}, the ${signer.role}, who pays`],
      ['network fee', `${FEE_LAMPORTS} lamports`],
      ...(rentLamports > 0n ? [['rent', `${rentLamports} lamports, held by the new account`] as Row] : []),
    ]),
  ].join('\n');
}

/** The event that the program logged for a transaction. */
export function describeEvent({ name, data }: MarketplaceEvent): string {
  const rows = Object.entries(data as Record<string, BorshValue>).map(([field, value]): Row => [
    field,
    valueText(value),
  ]);
  return [name, ...table(rows)].join('\n');
}

/** The program's configuration. */
export function describeProtocol(protocol: Protocol): string {
  const rows = Object.entries(protocol).filter(([name]) => name !== 'version' && name !== 'bump');
  // Null is a key that there is none of.
  return table(rows.map(([name, value]): Row => [name, value === null ? 'none' : valueText(value)])).join(
    '\n',
  );
}

/** The deployment, compared with the committed program. */
export function describeDeployment(deployment: Deployment, protocol: Protocol | undefined): string {
  const { upgradeAuthority, slot, sha256, committedSha256, isCommitted } = deployment;
  return table([
    ['deployed', `in slot ${slot}`],
    [
      'code',
      isCommitted
        ? `sha256 ${sha256}, as committed`
        : `sha256 ${sha256}, and not ${committedSha256} as committed`,
    ],
    ['upgrade authority', upgradeAuthority?.toBase58() ?? 'none: the program is final'],
    ['initialised', protocol ? 'yes' : 'no: send initialize'],
  ]).join('\n');
}

type Row = readonly [name: string, value: string];

function table(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, value]) => `  ${name.padEnd(width)}${value}`);
}

/** A value of an instruction or an account. Null: the update does not change it. */
function valueText(value: BorshValue | undefined): string {
  if (value === null || value === undefined) return 'unchanged';
  if (value instanceof PublicKey) return value.equals(PublicKey.default) ? 'none' : value.toBase58();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
