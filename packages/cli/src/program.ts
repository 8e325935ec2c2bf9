import { once } from 'node:events';
import { Argument, Command } from 'commander';
import type { CliEnvironment } from './cli-environment.js';
import { completionScript, SHELLS } from './commands/completion.js';
import { devCommand } from './commands/dev.js';
import { agentsCommand } from './commands/agents.js';
import { addEventCommands } from './commands/events/add-event-commands.js';
import { initCommand } from './commands/init.js';
import { earningsCommand, stateCommand, withdrawCommand } from './commands/listing.js';
import { logsCommand } from './commands/runs/logs.js';
import { modelCommand } from './commands/model.js';
import { checkCommand, publishCommand, updateCommand } from './commands/publish.js';
import { reclaimCommand } from './commands/reclaim.js';
import { rentCommand } from './commands/rent.js';
import { answerCommand, reviewsCommand } from './commands/reviews.js';
import { rollbackCommand } from './commands/rollback.js';
import { rotateSecretCommand } from './commands/rotate-secret.js';
import { runCommand } from './commands/runs/run.js';
import { statsCommand } from './commands/runs/stats.js';
import { walletCommands } from './commands/wallet.js';
import { DEFAULT_WALLET_FILE } from './marketplace.js';
import { withJson, withMarketplace } from './options.js';
import { TEMPLATES } from './project/templates.js';
import { VERSION } from './own-package.js';

const AFTER_HELP = `
Exit codes: 0 done, 1 failed, 2 not understood, 3 the agent's run failed,
130 ended by Ctrl-C.
AGENT_RENTAL_PROGRAM_ID is the address of the marketplace program, from the
marketplace's operator. Default: the published program.
Results are on stdout, progress and errors on stderr.`;

const WALLET_HELP = `
FILE is a keypair file of the Solana tools.
Default: ${DEFAULT_WALLET_FILE}.`;

/** The command line: all commands and their functions. */
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
      // `runCli` prints all errors.
      outputError: () => undefined,
      writeErr: (text) => environment.err(text.trimEnd()),
    });
  addCreatorCommands(program, environment);
  addRenterCommands(program, environment);
  addEventCommands(program, environment);
  addWalletCommands(program, environment);
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', '\nFor instance in ~/.bashrc: eval "$(agent-rental completion bash)"')
    .action((shell: string) => environment.out(completionScript(shell, program)));
  return program;
}

function addCreatorCommands(program: Command, environment: CliEnvironment): void {
  withJson(program.command('init'))
    .description('make a new, working agent')
    .argument('[folder]', 'its folder; the last part names the agent', 'my-agent')
    .option('--template <name>', Object.keys(TEMPLATES).join(', '), 'prompt')
    .action((folder: string, options: object) => initCommand(folder, options, environment));
  withJson(program.command('check'))
    .description('check agent.json, without a marketplace')
    .action((options: object) => checkCommand(options, environment));
  withJson(program.command('dev'))
    .description('try the agent as a renter, on this machine, while you edit it')
    .option('--port <port>', "port for the renter's calls", '8790')
    .option('--marketplace <folder>', "checkout of the marketplace's repository to start")
    .option('--url <url>', 'use a running marketplace on this machine, and start none')
    .option('--rpc <url>', 'with --url: its Solana RPC endpoint (AGENT_RENTAL_RPC_URL)')
    .action((options: object) => devCommand(options, environment));
  withMarketplace(program.command('publish'))
    .description('register the agent of this folder, and publish it on-chain')
    .addHelpText('after', '\nIn agent.json readme_file names a Markdown file, and icon_file a square PNG.')
    .option('--a2a <card>', 'write agent.json for an A2A agent, from the address of its card')
    .option('--unverified', 'publish also if it could not be reached; renters see this')
    .option('--model-key <name>', "file or variable with the model's key")
    .action((options: object) => publishCommand(options, environment));
  withMarketplace(program.command('update'))
    .description('send the changes of a published agent')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--model-key [name]', "replace the model's key: file or variable; default: its vendor's")
    .option('--notes <text>', 'what changed, for renters; everyone sees it')
    .action((listing: string | undefined, options: object) => updateCommand(listing, options, environment));
  withMarketplace(program.command('agents'))
    .description("list the wallet's agents, and whether they can be reached")
    .option('--limit <number>', 'number of the latest agents', '20')
    .action((options: object) => agentsCommand(options, environment));
  withMarketplace(program.command('rollback'))
    .description('make an earlier version the next version')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--to <version>', 'its number; default: the version before the latest')
    .action((listing: string | undefined, options: object) => rollbackCommand(listing, options, environment));
  withMarketplace(program.command('rotate-secret'))
    .description('replace the webhook secret of a connected agent')
    .argument('[listing]', 'its id; default: the one of this folder')
    .action((listing: string | undefined, options: object) =>
      rotateSecretCommand(listing, options, environment),
    );
  withMarketplace(program.command('logs'))
    .description('show the runs of a listing, with status and failure reason')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--follow', 'also show new runs, until Ctrl-C')
    .option('--limit <number>', 'number of the latest runs', '20')
    .action((listing: string | undefined, options: object) => logsCommand(listing, options, environment));
  withMarketplace(program.command('stats'))
    .description('count the runs of a listing, their durations, failures and refusals')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--window <time>', '24h, 7d or 30d', '24h')
    .action((listing: string | undefined, options: object) => statsCommand(listing, options, environment));
  withMarketplace(program.command('reviews'))
    .description('show the reviews of a listing, and their answers')
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--limit <number>', 'number of the latest reviews', '20')
    .action((listing: string | undefined, options: object) => reviewsCommand(listing, options, environment));
  withMarketplace(program.command('answer'))
    .description('answer a review of your listing, where everyone sees it')
    .argument('<listing>', 'its id')
    .argument('<reviewer>', 'the wallet that wrote the review')
    .argument('[text]', 'the answer, in place of an earlier one')
    .option('--remove', 'remove the answer')
    .action((listing: string, reviewer: string, text: string | undefined, options: object) =>
      answerCommand({ listing, reviewer, text }, options, environment),
    );
  const states = {
    pause: 'take a listing off sale, until it is resumed',
    resume: 'put a paused listing back on sale',
    close: "withdraw a listing's earnings, and close it for ever",
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
    .description("show the earnings of the wallet's listings")
    .action((options: object) => earningsCommand(options, environment));
  withMarketplace(program.command('withdraw'))
    .description("take a listing's earnings out of its escrow")
    .argument('[listing]', 'its id; default: the one of this folder')
    .option('--sol <amount>', 'the amount; default: all')
    .action((listing: string | undefined, options: object) => withdrawCommand(listing, options, environment));
  program
    .command('model')
    .description("serve a practice model on this machine, for agents without a vendor's key")
    .option('--port <port>', 'its port', '8789')
    .action((options: object) => modelCommand(options, environment));
}

function addRenterCommands(program: Command, environment: CliEnvironment): void {
  withMarketplace(program.command('rent'))
    .description('rent a listing, or add to its balance or its time')
    .argument('<listing>', 'its id')
    .option('--deposit <sol>', 'Per-Task: the prepaid amount; default: the least')
    .option('--days <days>', 'subscription: 30, 90 or 365, from now')
    .option('--early', 'renew also where that adds less than half of the days')
    .option('--yes', 'approve the cost without a question')
    .action((listing: string, options: object) => rentCommand(listing, options, environment));
  withMarketplace(program.command('reclaim'))
    .description('take a prepaid balance back, where that is allowed')
    .argument('<listing>', 'its id')
    .action((listing: string, options: object) => reclaimCommand(listing, options, environment));
  withMarketplace(program.command('run'))
    .description('run a rented agent')
    .argument('<listing>', 'its id')
    .argument('<task>', 'its task')
    .option('--input <input>', 'JSON, or text')
    .option('--input-file <file>', 'the same, in a file; - is standard input')
    .option('--timeout <seconds>', "timeout of the run; default: the agent's own limit")
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
        // The chain's client has no abort signal.
        Promise.race([walletCommands[name](file, options, environment), interruption(environment.signal)]),
      );
  const withSource = (command: Command) =>
    command
      .option('--from <file>', 'keypair file of the paying wallet; default: ~/.config/solana/id.json')
      .option('--airdrop', "take the SOL from the network's faucet instead, if it has one");
  withSource(add('create', 'make a wallet')).option('--fund <sol>', 'give it this budget');
  add('balance', 'show its address and balance');
  withSource(add('fund', 'send it SOL')).option('--sol <sol>', 'the amount');
  add('sweep', 'send its whole balance back').option('--to <address>', 'the receiver');
}

/** Rejects at Ctrl-C. */
async function interruption(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason as Error;
}
