import { MODEL_PROVIDERS, TIMEOUT_SECONDS, TOOL_SCOPES } from '@agent-rental/contract';
import { TermsFields } from './terms-fields.js';
import { IconField, NameFields, SchemaFields, TextFields } from './text-fields.js';
import { elementId } from '../../element-ids.js';

const ANY_OBJECT = '{\n  "type": "object",\n  "properties": {}\n}';
const FREE_TEXT = '{ "type": "string" }';

/** An agent as a form. `data-path` of a field names the member of the request that it gives, as violations do. */
export function AgentForm() {
  return (
    <form id={elementId('agent-form')} class="tall" noValidate>
      <fieldset>
        <legend>Name and description</legend>
        <label>
          Name, in kebab-case; the listing’s id is made of it
          <input data-path="name" maxLength={64} autocomplete="off" placeholder="invoice-reader" />
        </label>
        <NameFields />
        <TextFields />
        <IconField without="without one it is made from the id" />
      </fieldset>
      <fieldset>
        <legend>How it runs</legend>
        <label class="check">
          <input type="radio" name="mode" value="declarative" checked /> In the marketplace’s sandbox, with a
          prompt, a model and tools
        </label>
        <label class="check">
          <input type="radio" name="mode" value="connected" /> At an HTTPS endpoint of mine
        </label>
        <Declarative />
        <div id={elementId('connected')} class="tall" hidden>
          <label>
            Endpoint that takes the tasks
            <input data-path="entrypoint_url" type="url" maxLength={2000} placeholder="https://" />
          </label>
        </div>
        <label>
          Time limit of a run, in seconds
          <input
            data-path="timeout_seconds"
            inputMode="numeric"
            autocomplete="off"
            placeholder={String(TIMEOUT_SECONDS.default)}
          />
        </label>
      </fieldset>
      <fieldset>
        <legend>Input and output</legend>
        <SchemaFields input={ANY_OBJECT} output={FREE_TEXT} />
        <label>
          A sample input, as JSON or text, which the marketplace tries the agent with
          <textarea data-path="listing.sample_input" rows={3} spellcheck={false} class="code" />
        </label>
        <label>
          A sample output; empty: from the marketplace’s trial run
          <textarea data-path="listing.sample_output" rows={3} />
        </label>
      </fieldset>
      <fieldset>
        <legend>Price</legend>
        <TermsFields />
        <label>
          Free first run
          <select data-path="listing.free_trial">
            <option value="">None</option>
            <option value="true">For each wallet that has held some SOL for an hour</option>
            <option value="renters">For wallets that have rented from another creator</option>
          </select>
        </label>
      </fieldset>
      <ul id={elementId('agent-wrong')} class="wrong" />
      <p>
        <button type="submit">Register this agent</button>
      </p>
    </form>
  );
}

function Declarative() {
  return (
    <div id={elementId('declarative')} class="tall">
      <label>
        Provider of the model
        <select data-path="model.provider">
          {Object.keys(MODEL_PROVIDERS).map((provider) => (
            <option key={provider} value={provider}>
              {provider}
            </option>
          ))}
        </select>
      </label>
      <label>
        Name of the model
        <input data-path="model.model" maxLength={200} autocomplete="off" />
      </label>
      <label>
        Address of the model, if self_hosted
        <input data-path="model.endpoint_url" type="url" maxLength={2000} placeholder="https://" />
      </label>
      <label>
        Key of the model’s vendor; it is never shown again
        <input data-path="model_key" type="password" autocomplete="off" maxLength={500} />
      </label>
      <label>
        System prompt
        <textarea data-path="system_prompt" rows={8} />
      </label>
      <fieldset data-path="tools">
        <legend>Tools</legend>
        {Object.keys(TOOL_SCOPES).map((name) => (
          <label class="check" key={name}>
            <input type="checkbox" name="tool" value={name} /> {name}
          </label>
        ))}
      </fieldset>
    </div>
  );
}
