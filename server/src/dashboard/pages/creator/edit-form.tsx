import { CATEGORIES, README_MAX_BYTES } from '@agent-rental/contract';
import { elementId } from '../../element-ids.js';

const MOST_SAMPLES = [1, 2, 3];

/** The texts and schemas of a published agent. The script fills in today's values. */
export function EditForm() {
  return (
    <form id={elementId('edit-form')} class="tall" noValidate>
      <div id={elementId('edit-fields')} class="tall">
        <label>
          Title
          <input data-path="listing.title" maxLength={120} autocomplete="off" />
        </label>
        <label>
          Category
          <select data-path="category">
            {CATEGORIES.map((category) => (
              <option key={category} value={category}>
                {category}
              </option>
            ))}
          </select>
        </label>
        <label>
          Description
          <textarea data-path="description" rows={4} maxLength={4000} />
        </label>
        <label>
          README in Markdown
          <textarea data-path="listing.readme" rows={6} maxLength={README_MAX_BYTES} />
        </label>
        {MOST_SAMPLES.map((number) => (
          <label key={number}>
            Sample output {number}
            <textarea data-path={`listing.sample_output.${number - 1}`} rows={2} maxLength={4000} />
          </label>
        ))}
        <label>
          JSON Schema of the input
          <textarea data-path="input_schema" rows={8} spellcheck={false} class="code" />
        </label>
        <label>
          JSON Schema of the output
          <textarea data-path="output_schema" rows={4} spellcheck={false} class="code" />
        </label>
        <label>
          System prompt; it is never shown, and empty it stays as it is
          <textarea data-path="system_prompt" rows={4} />
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
