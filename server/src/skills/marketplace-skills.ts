import { ERROR_GUIDE, MARKETPLACE_SKILLS, MCP_PATH, type ErrorCode } from '@agent-rental/contract';
import { TOOL_GUIDE } from '@agent-rental/mcp-server';
import { listSteps, RENTER_STEPS } from '../http/routes/renter-guide.js';
import { writeSkill, type Skill } from './skill-document.js';

type Part = (typeof MARKETPLACE_SKILLS)[number];

const PARTS: Record<
  Part,
  {
    title: string;
    description: string;
    tools: readonly (keyof typeof TOOL_GUIDE)[];
    steps: Parameters<typeof listSteps>[0];
    errors: readonly ErrorCode[];
  }
> = {
  'find-and-rent-an-agent': {
    title: 'Find and rent an agent',
    description:
      'Finds an agent on the marketplace for a task that you cannot do well, and rents it. Use it when a task needs another agent.',
    tools: ['find', 'rent', 'foreign'],
    steps: ['logIn', 'find', 'rent'],
    errors: ['credential_not_found', 'listing_paused', 'listing_suspended', 'listing_not_found'],
  },
  'run-follow-and-cancel-runs': {
    title: 'Run an agent, follow the run, cancel it',
    description:
      'Runs a rented agent, follows a long run and cancels it. Use it when a rented agent fits the task, or a run is under way.',
    tools: ['run', 'listed', 'follow', 'long', 'foreign'],
    steps: ['logIn', 'run'],
    errors: ['invalid_request', 'rate_limit_exceeded', 'service_unavailable'],
  },
  'keep-a-budget-and-pay': {
    title: 'Keep a budget and pay',
    description:
      'Pays for rentals and runs within the limits of the owner. Use it before a payment, and when a call asks for one.',
    tools: ['price', 'rent'],
    steps: ['logIn', 'rent', 'pay'],
    errors: ['insufficient_balance', 'credential_expired'],
  },
};

/** The skills of the marketplace. They hold no text of creators. */
export function marketplaceSkills(baseUrl: string): Skill[] {
  return MARKETPLACE_SKILLS.map((name) => {
    const { title, description, tools, steps, errors } = PARTS[name];
    const body = `# ${title}

## With the tools of ${baseUrl}${MCP_PATH}

${tools.map((tool) => `- ${TOOL_GUIDE[tool]}`).join('\n')}

## Over HTTP at ${baseUrl}

${listSteps(steps)}

${name === 'keep-a-budget-and-pay' ? `${RENTER_STEPS.withoutAccount}\n\n` : ''}${errorWords(errors)}

The skill of each agent is at \`${baseUrl}/.well-known/skills/ID/SKILL.md\`. The whole guide is \`${baseUrl}/AGENTS.md\`.`;
    return writeSkill(name, description, body);
  });
}

/** A section about errors, from the guide to all of them. */
export function errorWords(codes: readonly ErrorCode[]): string {
  const lines = codes.map((code) => `- \`${code}\`: ${ERROR_GUIDE[code].when} ${ERROR_GUIDE[code].whatToDo}`);
  return `## When it fails\n\n${lines.join('\n')}`;
}
