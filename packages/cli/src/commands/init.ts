import { basename, resolve } from 'node:path';
import type { CliEnvironment } from '../cli-environment.js';
import { UsageError } from '../errors.js';
import type { SharedOptions } from '../options.js';
import { urlOf } from '../marketplace.js';
import { isTemplate, TEMPLATES, writeTemplate } from '../project/templates.js';
import { report } from '../report.js';

/** The form of a name in a manifest. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** `agent-rental init`: makes a folder with a working agent. */
export async function initCommand(
  given: string,
  options: SharedOptions & { template?: string },
  environment: CliEnvironment,
): Promise<void> {
  const { template = 'prompt' } = options;
  if (!isTemplate(template)) {
    throw new UsageError(`There is no template ${template}; there are ${Object.keys(TEMPLATES).join(', ')}.`);
  }
  const folder = resolve(environment.folder, given);
  const name = basename(folder);
  if (!NAME.test(name) || name.length > 64) {
    throw new UsageError(`"${name}" is no name of an agent: kebab-case, for instance invoice-reader.`);
  }
  const marketplace = urlOf({}, environment);
  const files = await writeTemplate(template, folder, name, {
    marketplace,
    variables: environment.variables,
  });
  const place = given === '.' ? [] : [`  cd ${given}`];
  report(options, environment, { folder, template, files }, [
    `Made ${name}: ${TEMPLATES[template]}.`,
    'Next:',
    ...place,
    ...(files.includes('package.json') ? ['  npm install'] : []),
    // Started by npx, the command is in no folder of PATH.
    ...(environment.variables['npm_command'] === 'exec'
      ? [`  npm install --global ${marketplace}/packages/agent-rental.tgz`]
      : []),
    '  agent-rental dev       try it as a renter, on this machine',
    '  agent-rental publish   offer it',
    'AGENTS.md has the next steps, for people and for coding agents.',
  ]);
}
