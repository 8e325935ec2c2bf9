import { formatSol, MAX_FILE_BYTES, RENTAL_TERMS } from '@agent-rental/contract';
import type { Json, Listing } from '@agent-rental/contract';
import { boundedText } from '../../words.js';
import { Tour } from '../../components/tour.js';
import { Words } from '../creator-words.js';
import { inputFields, type InputField } from './input-fields.js';
import { elementId } from '../../element-ids.js';
import type { PageChain } from '../page.js';

const NAME_CHARACTERS = 100;
const DESCRIPTION_CHARACTERS = 300;
const CHOICE_CHARACTERS = 100;
const MIB = 1024 * 1024;

/** The listing that is tried. */
interface TryProps {
  listing: Listing;
  chain: PageChain;
  /** An input that the agent takes; undefined where none was found. */
  sampleInput: Json | undefined;
  /** Whether a new wallet of the page may have a free first run here. */
  offersGuest: boolean;
}

/** Runs the agent by a form of its input schema. The script shows it, to a wallet that is logged in. */
export function TrySection({ listing, chain, sampleInput, offersGuest }: TryProps) {
  const { id, rental_model: model, price_lamports: price, free_trial: trial } = listing;
  return (
    <section
      id="try"
      hidden
      {...chain}
      data-listing={id}
      data-model={model}
      data-guest={offersGuest && trial === true ? '' : undefined}
      data-trial={(trial ?? false) === false ? undefined : String(trial)}
      data-price={formatSol(price)}
    >
      <h2>Try it</h2>
      <Tour />
      <p class="wallets" />
      <p role="status" />
      <p id={elementId('needs-rental')} hidden>
        <a href={`/dashboard/rent/${id}`}>Rent this agent</a> to run it here.
      </p>
      <div id={elementId('try-in')} hidden>
        <p id={elementId('terms')} />
        <form id={elementId('task-form')} class="stack">
          <label>
            Task, in plain language
            <textarea id={elementId('task')} required maxLength={100_000} />
          </label>
          <fieldset id={elementId('input-fields')} class="bare">
            <legend class="unseen">Input</legend>
            {inputFields(listing.input_schema).map((field, index) => (
              <Field key={index} field={field} />
            ))}
          </fieldset>
          <label class="drop">
            Or a file as the input: drop it here or choose it, at most {MAX_FILE_BYTES / MIB} MiB
            <input type="file" id={elementId('input-file')} />
          </label>
          <p>
            <button type="button" id={elementId('no-file')} class="plain" hidden>
              Take the fields instead of the file
            </button>
          </p>
          <p class="row">
            <button type="submit">Run</button>
            {sampleInput === undefined ? null : (
              <button
                type="button"
                id={elementId('use-example')}
                class="plain"
                data-example={JSON.stringify(sampleInput)}
              >
                Use the example
              </button>
            )}
          </p>
          {RENTAL_TERMS[model].chargesRuns ? (
            <p class="soft small">
              A run costs its price also when the agent fails, or when you cancel it after it began. Nothing
              is charged for our faults.
            </p>
          ) : null}
        </form>
        <div id={elementId('result')} hidden>
          <h3>Output</h3>
          <p>
            <button type="button" id={elementId('stop')} hidden>
              Cancel the run
            </button>
          </p>
          <pre id={elementId('output')} tabIndex={0} role="group" aria-label="Output" />
          <p id={elementId('outcome')} />
        </div>
      </div>
    </section>
  );
}

/** A field, marked so that the script reads the input from it. The creator's words are separate from the service's. */
function Field({ field }: { field: InputField }) {
  const { name, kind, isRequired, description } = field;
  const isOptional = isRequired ? '' : ', optional';
  const form = kind === 'json' ? ', as JSON' : '';
  return (
    <label>
      <span>
        {name === undefined ? 'Input' : 'Input '}
        {name === undefined ? null : (
          <code>
            <Words text={name} characters={NAME_CHARACTERS} />
          </code>
        )}
        {form}
        {isOptional}
      </span>
      <Control field={field} />
      {description === undefined ? null : (
        <span class="soft">
          <Words text={description} characters={DESCRIPTION_CHARACTERS} />
        </span>
      )}
    </label>
  );
}

function Control({ field }: { field: InputField }) {
  const { kind, name, isRequired: required } = field;
  const marks = { 'data-input': kind, 'data-name': name, required };
  switch (kind) {
    case 'line':
      return <input {...marks} autocomplete="off" />;
    case 'number':
      return <input {...marks} autocomplete="off" inputMode="decimal" />;
    case 'text':
    case 'json':
      return <textarea {...marks} spellcheck={kind === 'text'} />;
    case 'boolean':
      return <Choices marks={marks} values={[true, false]} />;
    case 'choice':
      return <Choices marks={marks} values={field.values} />;
    default:
      return field satisfies never;
  }
}

function Choices({ marks, values }: { marks: object; values: readonly (string | number | boolean)[] }) {
  return (
    <select {...marks}>
      <option value="">none</option>
      {values.map((value, index) => (
        <option key={index} value={JSON.stringify(value)}>
          {boundedText(String(value), CHOICE_CHARACTERS)}
        </option>
      ))}
    </select>
  );
}
