import { VERSION_NOTES_CHARACTERS } from '@agent-rental/contract';
import { elementId } from '../../element-ids.js';
import { IconField, NameFields, SchemaFields, TextFields } from './text-fields.js';

const MOST_SAMPLES = [1, 2, 3];

/** The texts and schemas of a published agent. The script fills in today's values. */
export function EditForm() {
  return (
    <form id={elementId('edit-form')} class="tall" noValidate>
      <div id={elementId('edit-fields')} class="tall">
        <NameFields />
        <TextFields />
        <IconField without="without a file it stays" />
        <label class="check">
          <input type="checkbox" id={elementId('no-icon')} /> Remove the icon: it is made from the id again
        </label>
        {MOST_SAMPLES.map((number) => (
          <label key={number}>
            Sample output {number}
            <textarea data-path={`listing.sample_output.${number - 1}`} rows={2} maxLength={4000} />
          </label>
        ))}
        <SchemaFields />
        <label>
          New system prompt (never shown; leave it empty to keep the present one)
          <textarea data-path="system_prompt" rows={4} />
        </label>
        <label>
          What changed, for renters (optional; everyone sees it)
          <textarea data-path="version_notes" rows={2} maxLength={VERSION_NOTES_CHARACTERS} />
        </label>
      </div>
      <ul id={elementId('edit-wrong')} class="wrong" />
      <p>
        <button type="submit">Show the changes</button>
      </p>
      <div id={elementId('edit-changes')} />
      <p>
        <button type="button" id={elementId('edit-send')} hidden>
          Send these changes
        </button>
      </p>
    </form>
  );
}
