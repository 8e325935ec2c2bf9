import type { Listing } from '@agent-rental/contract';
import { describe, expect, it } from 'vitest';
import { editedAgent, NO_ICON, textsOf } from './edited-agent.js';

const LISTING = {
  title: 'Clerk',
  category: ['legal'],
  description: 'Files\r\npapers.',
  sample_output: ['Filed.', 'Sent.'],
  input_schema: { type: 'object', properties: { text: { type: 'string' } } },
  output_schema: { type: 'string' },
} as unknown as Listing;
const today = textsOf(LISTING);
const edited = (over: Record<string, string>) =>
  editedAgent(today, new Map([...today, ...Object.entries(over)]));

describe('the form with the values of today', () => {
  it('changes nothing while its values are the same, whatever the order of a schema [SVC-30]', () => {
    expect(edited({})).toEqual({ body: {}, changes: [], faults: [] });
    const same = {
      description: 'Files\npapers. ',
      input_schema: '{"properties": {"text": {"type":"string"}}, "type": "object"}',
    };
    expect(edited(same)).toEqual({ body: {}, changes: [], faults: [] });
  });

  it('sends the changed members alone, and shows each before and after [SVC-30]', () => {
    const { body, changes, faults } = edited({
      'listing.title': 'Scribe',
      'listing.sample_output.1': '',
      'listing.readme': '# Clerk',
      'listing.language': 'German',
      output_schema: '{"type": "object"}',
      system_prompt: 'File it.',
    });
    expect(faults).toEqual([]);
    expect(body).toEqual({
      output_schema: { type: 'object' },
      system_prompt: 'File it.',
      listing: { title: 'Scribe', sample_output: ['Filed.'], readme: '# Clerk', language: 'German' },
    });
    expect(changes.map(({ field }) => field)).toEqual([
      'listing.title',
      'listing.readme',
      'listing.sample_output.1',
      'output_schema',
      'system_prompt',
      'listing.language',
    ]);
    expect(changes[0]?.lines).toEqual([
      { kind: 'removed', text: 'Clerk' },
      { kind: 'added', text: 'Scribe' },
    ]);
  });

  it('sends a chosen icon or takes it away, and shows its size alone [LST-54]', () => {
    const icon = btoa('1234');
    const chosen = edited({ 'listing.icon': icon });
    expect(chosen.body).toEqual({ listing: { icon } });
    expect(chosen.changes[0]?.lines.at(-1)).toEqual({ kind: 'added', text: 'a picture of 4 bytes' });
    expect(edited({ 'listing.icon': NO_ICON }).body).toEqual({ listing: { icon: null } });
    expect(edited({ 'listing.icon': '' }).body).toEqual({});
  });

  it('removes a README that was emptied, and says where JSON is wrong [SVC-30]', () => {
    const withReadme = textsOf({ ...LISTING, readme: 'Old.' });
    const without = editedAgent(withReadme, new Map([...withReadme, ['listing.readme', ' ']]));
    expect(without.body).toEqual({ listing: { readme: null } });
    expect(edited({ input_schema: '{' }).faults).toMatchObject([
      { path: 'input_schema', message: expect.stringMatching(/^is not JSON: /) as string },
    ]);
  });
});
