import type { Listing } from '@agent-rental/contract';
import { Words } from '../creator-words.js';

const FIELD_CHARACTERS = 300;
const SCHEMA_CHARACTERS = 20_000;
/** Fields of an input in the table; the schema beside it has all. */
const MOST_FIELDS = 40;

/** The fields of an input as a table, and the whole schema below it. */
export function InputTable({ schema }: { schema: Listing['input_schema'] }) {
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : [];
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return (
    <>
      {properties.length === 0 ? (
        <p>
          {schema['type'] === 'string' ? 'One text.' : 'This agent names no fields. Read its schema below.'}
        </p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Fields of the input">
          <table class="wide">
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Type</th>
                <th scope="col">Description</th>
              </tr>
            </thead>
            <tbody>
              {properties.slice(0, MOST_FIELDS).map(([name, field]) => (
                <Field key={name} name={name} field={field} isRequired={required.has(name)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <details>
        <summary>The whole JSON Schema</summary>
        <pre tabIndex={0} role="group" aria-label="JSON Schema of the input">
          <Words text={JSON.stringify(schema, null, 2)} characters={SCHEMA_CHARACTERS} />
        </pre>
      </details>
    </>
  );
}

function Field({ name, field, isRequired }: { name: string; field: unknown; isRequired: boolean }) {
  const { type, description } = isRecord(field) ? field : {};
  return (
    <tr>
      <th scope="row">
        <code>
          <Words text={name} characters={FIELD_CHARACTERS} />
        </code>
      </th>
      <td>
        {typeof type === 'string' ? `${type.slice(0, 20)}, ` : ''}
        {isRequired ? 'required' : 'optional'}
      </td>
      <td>
        {typeof description === 'string' ? <Words text={description} characters={FIELD_CHARACTERS} /> : null}
      </td>
    </tr>
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
