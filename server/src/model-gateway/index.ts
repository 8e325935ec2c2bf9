export { createModelGateway, ModelUnavailableError, type ModelGateway } from './gateway.js';
