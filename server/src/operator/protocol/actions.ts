import { findListingAddress, MAX_FEE_BPS } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { parseArgs } from 'node:util';
import { OperatorError } from '../operator-error.js';

/** An operator's action with a key of the program, without the common options. */
export type ProtocolAction =
  | { name: 'protocol' }
  | { name: 'deploy-check' }
  | {
      name: 'initialize';
      admin: PublicKey;
      authority: PublicKey;
      treasury: PublicKey;
      /** Absent: the program's default. */
      feeBps?: number | undefined;
      minQueryPriceLamports?: bigint | undefined;
    }
  | {
      name: 'update-protocol';
      feeBps?: number | undefined;
      minQueryPriceLamports?: bigint | undefined;
    }
  | { name: 'rotate-authority' | 'rotate-admin'; step: 'propose'; to: PublicKey }
  | { name: 'rotate-authority' | 'rotate-admin'; step: 'accept' | 'cancel' }
  | { name: 'treasury'; to: PublicKey }
  | { name: 'pause' | 'unpause' }
  | { name: 'revoke-access'; listingId: string; buyer: PublicKey };

/** An action, and how it is done. */
export interface ProtocolCommand {
  action: ProtocolAction;
  /** Shows and simulates the transaction, and sends nothing. */
  dryRun: boolean;
  /** Path of the signer's keypair file. A dry run does without. */
  keypairFile: string | undefined;
}

interface Description {
  /** The operands after the name. */
  usage: string;
  /** Which key signs; absent where none does. */
  signer?: string;
  summary: string;
  options: readonly OptionName[];
}

const VALUES = {
  admin: { type: 'string' },
  authority: { type: 'string' },
  treasury: { type: 'string' },
  'fee-bps': { type: 'string' },
  'min-query-price': { type: 'string' },
} as const;
type OptionName = keyof typeof VALUES;

/** Every command of this kind, in the order of the help. */
export const PROTOCOL_COMMANDS: Readonly<Record<ProtocolAction['name'], Description>> = {
  protocol: { usage: '', summary: "shows the program's configuration", options: [] },
  'deploy-check': {
    usage: '',
    summary: 'compares the deployed program with the committed one; exits 1 where they differ',
    options: [],
  },
  initialize: {
    usage:
      '--admin ADDRESS --authority ADDRESS --treasury ADDRESS [--fee-bps N] [--min-query-price LAMPORTS]',
    signer: 'upgrade authority',
    summary: "creates the program's configuration, once",
    options: ['admin', 'authority', 'treasury', 'fee-bps', 'min-query-price'],
  },
  'update-protocol': {
    usage: '[--fee-bps N] [--min-query-price LAMPORTS]',
    signer: 'admin',
    summary: 'sets the fee (250 is 2.5 %) and the floor of Per-Task prices',
    options: ['fee-bps', 'min-query-price'],
  },
  'rotate-authority': {
    usage: 'propose <address> | accept | cancel',
    signer: 'admin',
    summary: 'hands over to another key that charges runs, in two steps',
    options: [],
  },
  'rotate-admin': {
    usage: 'propose <address> | accept | cancel',
    signer: 'admin; to accept, the proposed one',
    summary: 'hands over to another admin, in two steps',
    options: [],
  },
  treasury: { usage: '<address>', signer: 'admin', summary: 'sends fees to another wallet', options: [] },
  pause: {
    usage: '',
    signer: 'admin',
    summary: 'stops purchases, renewals, top-ups and new listings; runs go on',
    options: [],
  },
  unpause: { usage: '', signer: 'admin', summary: 'goes on', options: [] },
  'revoke-access': {
    usage: '<listing_id> <buyer>',
    signer: 'admin',
    summary: "ends a buyer's rental for ever; an unused balance goes back to the buyer",
    options: [],
  },
};

/** Reads a command line. Undefined where it names no command of this kind. @throws OperatorError naming its fault. */
export function parseProtocolCommand(
  argv: readonly string[],
): ProtocolCommand | { help: string } | undefined {
  const name = argv.find((argument) => !argument.startsWith('-'));
  if (name === undefined || !Object.hasOwn(PROTOCOL_COMMANDS, name)) return undefined;
  const command = name as ProtocolAction['name'];
  const { values, positionals } = readArguments(command, argv);
  if (values.help) return { help: helpOf(command) };
  const { signer } = PROTOCOL_COMMANDS[command];
  if (signer === undefined && (values.keypair !== undefined || values['dry-run'])) {
    throw new OperatorError(`${command} signs nothing: it takes neither --keypair nor --dry-run.`);
  }
  const dryRun = values['dry-run'] ?? false;
  const action = actionOf(command, positionals.slice(1), values);
  if (signer !== undefined && !dryRun && values.keypair === undefined) {
    throw new OperatorError(
      `${command} is signed by the ${signer}: name its keypair file with --keypair FILE, or look at it first with --dry-run.`,
    );
  }
  return { action, dryRun, keypairFile: values.keypair };
}

type Values = ReturnType<typeof readArguments>['values'];

function actionOf(name: ProtocolAction['name'], operands: readonly string[], values: Values): ProtocolAction {
  const requireOperands = (count: number): void => {
    if (operands.length === count) return;
    throw new OperatorError(
      `Wrong number of arguments. It is: ${name} ${PROTOCOL_COMMANDS[name].usage}`.trim(),
    );
  };
  const [first = '', second = ''] = operands;
  switch (name) {
    case 'protocol':
    case 'deploy-check':
    case 'pause':
    case 'unpause':
      requireOperands(0);
      return { name };
    case 'initialize':
      requireOperands(0);
      return {
        name,
        admin: address(values.admin, '--admin'),
        authority: address(values.authority, '--authority'),
        treasury: address(values.treasury, '--treasury'),
        ...amounts(values),
      };
    case 'update-protocol': {
      requireOperands(0);
      const changes = amounts(values);
      if (Object.keys(changes).length === 0) {
        throw new OperatorError('Name the change: --fee-bps N, --min-query-price LAMPORTS, or both.');
      }
      return { name, ...changes };
    }
    case 'rotate-authority':
    case 'rotate-admin':
      if (first === 'accept' || first === 'cancel') {
        requireOperands(1);
        return { name, step: first };
      }
      if (first !== 'propose') throw new OperatorError(`It is: ${name} ${PROTOCOL_COMMANDS[name].usage}`);
      requireOperands(2);
      return { name, step: first, to: address(second, 'The address') };
    case 'treasury':
      requireOperands(1);
      return { name, to: address(first, 'The address') };
    case 'revoke-access':
      requireOperands(2);
      return { name, listingId: listingId(first), buyer: address(second, 'The buyer') };
    default:
      return name satisfies never;
  }
}

function readArguments(name: ProtocolAction['name'], argv: readonly string[]) {
  const allowed = Object.fromEntries(
    PROTOCOL_COMMANDS[name].options.map((option) => [option, VALUES[option]]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...allowed,
        keypair: { type: 'string' },
        'dry-run': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return {
      values: values as { [Name in OptionName]?: string } & {
        keypair?: string;
        'dry-run'?: boolean;
        help?: boolean;
      },
      positionals,
    };
  } catch (error) {
    const [option] = /'-[^']*'/.exec((error as Error).message) ?? [];
    throw new OperatorError(
      `${option === undefined ? 'The options cannot be read' : `The option ${option} is not known or lacks its value`}. ` +
        `${name} --help shows every option.`,
    );
  }
}

function helpOf(name: ProtocolAction['name']): string {
  const { usage, signer, summary } = PROTOCOL_COMMANDS[name];
  const signing =
    signer === undefined
      ? ''
      : `
Signed by the ${signer}.

  --keypair FILE  path of its keypair file, as solana-keygen writes it. A key itself is never an argument
  --dry-run       shows the transaction decoded and simulates it; sends nothing, and needs no keypair
`;
  return `npm run operator -- ${`${name} ${usage}`.trim()}

${summary}.
${signing}
Works on SOLANA_RPC_URLS and PROGRAM_ID, or on the chain of the server that runs on the state folder (STATE_DIR).
`;
}

function amounts(values: Values): { feeBps?: number; minQueryPriceLamports?: bigint } {
  const fee = values['fee-bps'];
  const price = values['min-query-price'];
  if (fee !== undefined && !(/^\d{1,4}$/.test(fee) && Number(fee) <= MAX_FEE_BPS)) {
    throw new OperatorError(`--fee-bps is a whole number from 0 to ${MAX_FEE_BPS}: 250 is 2.5 %.`);
  }
  if (price !== undefined && !/^\d{1,16}$/.test(price)) {
    throw new OperatorError('--min-query-price is a whole number of lamports.');
  }
  return {
    ...(fee === undefined ? {} : { feeBps: Number(fee) }),
    ...(price === undefined ? {} : { minQueryPriceLamports: BigInt(price) }),
  };
}

/** The message does not repeat the argument: it may be a key by mistake. */
function address(text: string | undefined, what: string): PublicKey {
  if (text === undefined) throw new OperatorError(`${what} is missing: it is followed by an address.`);
  try {
    return new PublicKey(text);
  } catch {
    throw new OperatorError(`${what} is not an address: 32 bytes in base58.`);
  }
}

function listingId(text: string): string {
  try {
    findListingAddress(text);
    return text;
  } catch (error) {
    throw new OperatorError((error as Error).message);
  }
}
