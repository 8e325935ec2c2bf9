/** Runs the scenario in the present runtime: input as the last argument, report as the only line of output. */
import { scenario, type ScenarioInput } from './scenario.js';

const input = JSON.parse(process.argv.at(-1) ?? '') as ScenarioInput;
process.stdout.write(`${JSON.stringify(await scenario(input))}\n`);
