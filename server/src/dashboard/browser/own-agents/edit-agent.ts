import { respondTo } from '../events.js';
import { findForm, keepPicture, typedFields } from '../fields.js';
import { showViolations } from '../publishing/violations.js';
import { find, findInput, say, work } from '../wallets.js';
import { sendChanges } from './agent-update.js';
import { editedAgent, NO_ICON, textsOf, type Edited } from './edited-agent.js';
import type { ShownAgent } from './shown-agent.js';
import { showChanges } from './show-changes.js';

/** Changes a published agent by a form with today's values: a first press shows the changes, a second one sends them. */
export function offerEdit(shown: ShownAgent): void {
  const { root, listing } = shown;
  const form = findForm(root, '#edit-form');
  form.hidden = listing === undefined;
  if (listing === undefined) return;
  const today = textsOf(listing);
  // Of an earlier look: a file cannot be set, so the form is emptied first.
  form.reset();
  keepPicture(form);
  for (const field of form.querySelectorAll<HTMLTextAreaElement>('[data-path]:not([type=file])')) {
    field.value = today.get(field.dataset['path'] ?? '') ?? '';
  }
  const place = find(root, '#edit-changes');
  const list = find(root, '#edit-wrong');
  const sendButton = find(root, '#edit-send');
  let seen: Edited | undefined;
  const forget = () => {
    seen = undefined;
    sendButton.hidden = true;
    place.replaceChildren();
  };
  forget();
  // The shown changes are sent: a further change is to be seen first.
  respondTo(find(root, '#edit-fields'), 'input', forget);
  respondTo(form, 'submit', () => {
    forget();
    const typed = typedFields(form);
    if (findInput(form, '#no-icon').checked) typed.set('listing.icon', NO_ICON);
    const edited = editedAgent(today, typed);
    showViolations(form, list, edited.faults);
    if (edited.faults.length > 0) return say(root, 'Something is wrong: see beside the field.');
    if (edited.changes.length === 0) return say(root, 'Nothing is changed.');
    showChanges(place, edited.changes);
    seen = edited;
    sendButton.hidden = false;
    say(root, 'See the changes below the form, and send them.');
    sendButton.focus();
  });
  respondTo(sendButton, 'click', () =>
    work(root, 'It was not updated.', async () => {
      if (seen === undefined) return;
      const refused = await sendChanges(shown, seen.body, {});
      showViolations(form, list, refused);
      if (refused.length > 0) throw new Error('See beside the fields why the marketplace refuses it.');
      await shown.refresh('Updated: the next run runs the new version.');
    }),
  );
}
