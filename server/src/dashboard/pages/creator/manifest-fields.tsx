import { elementId } from '../../element-ids.js';
/** A manifest as a document: from a file, and open to changes before it is sent. */
export function ManifestFields() {
  return (
    <>
      <label>
        Manifest file (JSON, the agent.json of the command line)
        <input type="file" id={elementId('manifest-file')} accept=".json,application/json" />
      </label>
      <label>
        Manifest
        <textarea id={elementId('manifest')} data-path="" rows={14} spellcheck={false} class="code" />
      </label>
      <label>
        Key of the model’s vendor, if it needs one; it is never shown again
        <input
          type="password"
          id={elementId('manifest-key')}
          data-path="model_key"
          autocomplete="off"
          maxLength={500}
        />
      </label>
      <ul id={elementId('manifest-wrong')} class="wrong" />
    </>
  );
}
