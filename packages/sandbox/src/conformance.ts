import { escapeCases } from './conformance/escape-cases.js';
import type { ConformanceCase } from './conformance/conformance-case.js';
import { limitCases } from './conformance/limit-cases.js';
import { protocolCases } from './conformance/protocol-cases.js';

export type { ConformanceCase } from './conformance/conformance-case.js';

/** What every sandbox driver must do. A driver's tests run all that apply to it. */
export const conformanceCases: readonly ConformanceCase[] = [...escapeCases, ...limitCases, ...protocolCases];
