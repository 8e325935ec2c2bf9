/**
 * Finds a model that speaks OpenAI's API, by the variables of the examples.
 *
 * @throws Error when `MODEL_BASE_URL` or `MODEL_NAME` is not set.
 */
export function modelOfEnvironment(environment = process.env) {
  const { MODEL_BASE_URL: baseURL, MODEL_NAME: name, MODEL_API_KEY: apiKey = 'none' } = environment;
  if (!baseURL || !name) throw new Error('Set MODEL_BASE_URL and MODEL_NAME.');
  return { baseURL, name, apiKey };
}

/** The prompt of the examples. */
export const INSTRUCTIONS =
  'Rewrite the text in plain words. Leave nothing out. Answer with the rewritten text alone.';
