import { once } from 'node:events';
import { Argument, Command } from 'commander';
import type { CliEnvironment } from './cli-environment.js';
import { completionScript, SHELLS } from './commands/completion.js';
import { devCommand } from './commands/dev.js';
import { agentsCommand } from './commands/agents.js';
import { initCommand } from './commands/init.js';
import { earningsCommand, stateCommand, withdrawCommand } from './commands/listing.js';
import { logsCommand } from './commands/logs.js';
import { modelCommand } from './commands/model.js';
import { checkCommand, publishCommand, updateCommand } from './commands/publish.js';
import { rentCommand } from './commands/rent.js';
import { rollbackCommand } from './commands/rollback.js';
import { rotateSecretCommand } from './commands/rotate-secret.js';
import { runCommand } from './commands/run.js';
import { statsCommand } from './commands/stats.js';
import { walletCommands } from './commands/wallet.js';
import { DEFAULT_WALLET_FILE } from './marketplace.js';
import { withJson, withMarketplace } from './options.js';
import { TEMPLATES } from './project/templates.js';
import { VERSION } from './version.js';

const AFTER_HELP = `
Exit codes: 0 done, 1 failed, 2 not understood, 3 the agent's run failed,
130 ended by Ctrl-C.
AGENT_RENTAL_PROGRAM_ID is the address of the marketplace program, where it
is not the published one; its operator tells it.
Results are on stdout, progress and errors on stderr.`;

const WALLET_HELP = `
FILE is a keypair file as the Solana tools write it;
${DEFAULT_WALLET_FILE} when it is left out.`;

/** The command line: what can be typed, and what it calls. */
export function createProgram(environment: CliEnvironment): Command {
  const program = new Command('agent-rental')
    .description('Publish agents on an agent rental marketplace, rent them, run them.')
    .version(VERSION, '--version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .addHelpText('after', AFTER_HELP)
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => environment.out(text.trimEnd()),
      // `runCli` prints these errors, as all others.
      outputError: () => undefined,
      writeErr: (text) => environment.err(text.trimEnd()),
    });
  addCreatorCommands(program, environment);
  addRenterCommands(program, environment);
  addWalletCommands(program, environment);
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'of which one').choices(SHELLS))
    .addHelpText('after', '\nFor instance in ~/.bashrc: eval "$(agent-rental completion bash)"')
    .action((shell: string) => environment.out(completionScript(shell, program)));
  return program;
}

function addCreatorCommands(program: Command, environment: CliEnvironment): void {
  withJson(program.command('init'))
    .description('make a new agent that runs at once')
    .argument('[folder]', 'where; its last part names the agent', 'my-agent')
    .option('--template <name>', Object.keys(TEMPLATES).join(', '), 'prompt')
    .action((folder: string, options: object) => initCommand(folder, options, environment));
  withJson(program.command('check'))
    .description('check agent.json, without a marketplace')
    .action((options: object) => checkCommand(options, environment));
  withJson(program.command('dev'))
    .description('try the agent as a renter, on this machine, while it is edited')
    .option('--port <port>', 'where a renter calls it', '8790')
    .option('--marketplace <folder>', "checkout of the marketplace's repository to start one of")
    .option('--url <url>', 'a marketplace that runs on this machine, in place of one of its own')
    .option('--rpc <url>', 'with --url: its Solana RPC endpoint (AGENT_RENTAL_RPC_URL)')
    .action((options: object) => devCommand(options, environment));
  withMarketplace(program.command('publish'))
    .description('register the agent of this folder, and publish it on-chain')
    .option('--unverified', 'although it could not be reached; renters are told')
    .action((options: object) => publishCommand(options, environment));
  withMarketplace(program.command('update'))
    .description('send what has changed of a published agent')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--model-key', "replace the model's key by the one in the environment")
    .action((listing: string | undefined, options: object) => updateCommand(listing, options, environment));
  withMarketplace(program.command('agents'))
    .description("list the wallet's agents, and which of them cannot be reached")
    .option('--limit <number>', 'how many of the latest', '20')
    .action((options: object) => agentsCommand(options, environment));
  withMarketplace(program.command('rollback'))
    .description('make what an earlier version was the next one')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--to <version>', 'its number; default: the one before the latest')
    .action((listing: string | undefined, options: object) => rollbackCommand(listing, options, environment));
  withMarketplace(program.command('rotate-secret'))
    .description('replace the webhook secret of an agent that is called')
    .argument('[listing]', 'its id; default: the one of this folder')
    .action((listing: string | undefined, options: object) =>
      rotateSecretCommand(listing, options, environment),
    );
  withMarketplace(program.command('logs'))
    .description('show how the runs of a listing ended, and why they failed')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--follow', 'and those to come, until Ctrl-C')
    .option('--limit <number>', 'how many of the latest', '20')
    .action((listing: string | undefined, options: object) => logsCommand(listing, options, environment));
  withMarketplace(program.command('stats'))
    .description('count how the runs of a listing went, how long they took, what was refused')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--window <time>', '24h, 7d or 30d', '24h')
    .action((listing: string | undefined, options: object) => statsCommand(listing, options, environment));
  const states = {
    pause: 'take a listing off sale, until it is resumed',
    resume: 'put a paused listing back on sale',
    close: 'withdraw what a listing earned, and close it for ever',
  };
  for (const [state, description] of Object.entries(states) as [keyof typeof states, string][]) {
    const command = withMarketplace(program.command(state))
      .description(description)
      .argument('[listing]', 'its id; default: the one of this folder')
      .action((listing: string | undefined, options: object) =>
        stateCommand(state, listing, options, environment),
      );
    if (state === 'close') command.option('--yes', 'do not ask');
  }
  withMarketplace(program.command('earnings'))
    .description("show what the wallet's listings earn")
    .action((options: object) => earningsCommand(options, environment));
  withMarketplace(program.command('withdraw'))
    .description('take what a listing earned out of its escrow')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--sol <amount>', 'how much; default: all')
    .action((listing: string | undefined, options: object) => withdrawCommand(listing, options, environment));
  program
    .command('model')
    .description('serve a practice model on this machine, for agents without a key of a vendor')
    .option('--port <port>', 'where it listens', '8789')
    .action((options: object) => modelCommand(options, environment));
}

function addRenterCommands(program: Command, environment: CliEnvironment): void {
  withMarketplace(program.command('rent'))
    .description('rent a listing, or add to its balance or its time')
    .argument('<listing>', 'its id')
    .option('--deposit <sol>', 'Per-Task: what is prepaid; default: the least')
    .option('--days <days>', 'subscription: 30, 90 or 365')
    .option('--yes', 'agree to what it costs, without being asked')
    .action((listing: string, options: object) => rentCommand(listing, options, environment));
  withMarketplace(program.command('run'))
    .description('run a rented agent')
    .argument('<listing>', 'its id')
    .argument('<task>', 'what it has to do')
    .option('--input <input>', 'JSON, or text')
    .option('--input-file <file>', 'the same, in a file; - is standard input')
    .option('--timeout <seconds>', "the most that it takes; default: the agent's own limit")
    .action((listing: string, task: string, options: object) =>
      runCommand(listing, task, options, environment),
    );
}

function addWalletCommands(program: Command, environment: CliEnvironment): void {
  const wallet = program
    .command('wallet')
    .description('wallets for agents, which hold only their budget')
    .addHelpText('after', WALLET_HELP);
  const add = (name: keyof typeof walletCommands, description: string) =>
    withJson(wallet.command(name))
      .description(description)
      .argument('[file]', 'keypair file', DEFAULT_WALLET_FILE)
      .option('--rpc <url>', 'Solana RPC endpoint (AGENT_RENTAL_RPC_URL; http://127.0.0.1:8899)')
      .action((file: string, options: object) =>
        // The chain's client takes no signal.
        Promise.race([walletCommands[name](file, options, environment), interruption(environment.signal)]),
      );
  const withSource = (command: Command) =>
    command
      .option('--from <file>', 'keypair file of the wallet that pays; default: ~/.config/solana/id.json')
      .option('--airdrop', "take the SOL from the network's faucet instead, where it has one");
  withSource(add('create', 'make a wallet')).option('--fund <sol>', 'and give it its budget');
  add('balance', 'show its address and what it holds');
  withSource(add('fund', 'give it more')).option('--sol <sol>', 'how much');
  add('sweep', 'send all that it holds back').option('--to <address>', 'where to');
}

/** Rejects at Ctrl-C. */
async function interruption(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason as Error;
}
