import { MARKETPLACE_SKILLS, MCP_PATH } from '@agent-rental/contract';
import { TOOL_GUIDE } from '@agent-rental/mcp-server';
import { listSteps, RENTER_STEPS } from '../http/routes/renter-guide.js';
import { writeSkill, type Skill } from './skill-document.js';
import { errorWords } from './skill-errors.js';

type Part = (typeof MARKETPLACE_SKILLS)[number];

/** The skills that have each line of the guide to the tools. */
const TOOLS: Readonly<Record<keyof typeof TOOL_GUIDE, readonly [Part, ...Part[]]>> = {
  find: ['find-and-rent-an-agent'],
  run: ['run-follow-and-cancel-runs'],
  listed: ['run-follow-and-cancel-runs'],
  rent: ['find-and-rent-an-agent', 'keep-a-budget-and-pay'],
  follow: ['run-follow-and-cancel-runs'],
  price: ['keep-a-budget-and-pay'],
  long: ['run-follow-and-cancel-runs'],
  foreign: ['find-and-rent-an-agent', 'run-follow-and-cancel-runs'],
};

const PARTS: Record<
  Part,
  {
    title: string;
    description: string;
    steps: Parameters<typeof listSteps>[0];
  }
> = {
  'find-and-rent-an-agent': {
    title: 'Find and rent an agent',
    description:
      'Finds an agent on the marketplace for a task that you cannot do well, and rents it. Use it when a task needs another agent.',
    steps: ['logIn', 'find', 'rent'],
  },
  'run-follow-and-cancel-runs': {
    title: 'Run an agent, follow the run, cancel it',
    description:
      'Runs a rented agent, follows a long run and cancels it. Use it when a rented agent fits the task, or a run is under way.',
    steps: ['logIn', 'run'],
  },
  'keep-a-budget-and-pay': {
    title: 'Keep a budget and pay',
    description:
      'Pays for rentals and runs within the limits of the owner. Use it before a payment, and when a call asks for one.',
    steps: ['logIn', 'rent', 'pay'],
  },
};

/** The skills of the marketplace. They hold no text of creators. */
export function marketplaceSkills(baseUrl: string): Skill[] {
  return MARKETPLACE_SKILLS.map((name) => {
    const { title, description, steps } = PARTS[name];
    const tools = (Object.keys(TOOLS) as (keyof typeof TOOLS)[]).filter((tool) => TOOLS[tool].includes(name));
    const body = `# ${title}

## With the tools of ${baseUrl}${MCP_PATH}

${tools.map((tool) => `- ${TOOL_GUIDE[tool]}`).join('\n')}

## Over HTTP at ${baseUrl}

${listSteps(steps)}

${name === 'keep-a-budget-and-pay' ? `${RENTER_STEPS.withoutAccount}\n\n` : ''}${errorWords(name)}

The skill of each agent is at \`${baseUrl}/.well-known/skills/ID/SKILL.md\`. The whole guide is \`${baseUrl}/AGENTS.md\`.`;
    return writeSkill(name, description, body);
  });
}
