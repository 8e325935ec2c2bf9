export { hangingAgent } from './hanging-agent.js';
export type { HangingAgent } from './hanging-agent.js';
export { listenNode } from './listen-node.js';
export { createStandIn, STAND_IN_API_KEY } from './stand-in.js';
export type { StandIn, StandInAgent, StandInListing, StandInOutcome, StandInRequest } from './stand-in.js';
