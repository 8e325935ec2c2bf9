import { RENTAL_MODELS } from '@agent-rental/contract';
import { MODEL_WORDS } from '../price.js';

/** The fields for the terms of a rental. `data-path` names the member of the request, as violations do. */
export function TermsFields() {
  return (
    <>
      <label>
        Rental model
        <select data-path="listing.rental_model">
          {RENTAL_MODELS.map((model) => (
            <option key={model} value={model} selected={model === 'per_query'}>
              {MODEL_WORDS[model]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Price in SOL
        <input data-path="listing.price_lamports" inputMode="decimal" autocomplete="off" />
      </label>
      <p class="soft" data-net />
      <label>
        Minimum deposit in SOL, if paid per task
        <input
          data-path="listing.min_deposit_lamports"
          inputMode="decimal"
          autocomplete="off"
          placeholder="the price"
        />
      </label>
    </>
  );
}
