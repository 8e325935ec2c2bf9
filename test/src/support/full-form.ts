/**
 * Whether tests run in full, as CI does. Elsewhere batteries, packing, fuzzing of the API, clients that are installed from PyPI
 * or npm, MCP clients that give up or resume, and runs that outlive a client are left out, and fuzzing of the program is shortened, so that `npm test` takes
 * minutes; `CI=true npm test` runs all of them, and fails where a tool that they need is missing.
 */
export const IS_FULL_FORM = process.env['CI'] !== undefined;
