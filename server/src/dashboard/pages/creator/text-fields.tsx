import { CATEGORIES, ICON_MAX_BYTES, README_MAX_BYTES } from '@agent-rental/contract';

const KIB = 1024;

/** The fields of title and category, for a new agent and for a published one. */
export function NameFields() {
  return (
    <>
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
    </>
  );
}

/** The fields of the texts for renters. */
export function TextFields() {
  return (
    <>
      <label>
        Description: its task, its input and its result
        <textarea data-path="description" rows={4} maxLength={4000} />
      </label>
      <label>
        README in Markdown, for people who read the listing’s page (optional)
        <textarea data-path="listing.readme" rows={6} maxLength={README_MAX_BYTES} />
      </label>
    </>
  );
}

/** The field of the icon. @param without the effect of no file */
export function IconField({ without }: { without: string }) {
  return (
    <label>
      Icon, a square PNG or WebP of at most {ICON_MAX_BYTES / KIB} KiB; {without}
      <input type="file" data-path="listing.icon" accept="image/png,image/webp" />
    </label>
  );
}

/** The fields of both schemas, with their texts. */
export function SchemaFields({ input = '', output = '' }: { input?: string; output?: string }) {
  return (
    <>
      <label>
        JSON Schema of the input
        <textarea data-path="input_schema" rows={8} spellcheck={false} class="code">
          {input}
        </textarea>
      </label>
      <label>
        JSON Schema of the output
        <textarea data-path="output_schema" rows={4} spellcheck={false} class="code">
          {output}
        </textarea>
      </label>
    </>
  );
}
