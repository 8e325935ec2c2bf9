import { confirmEmailBody, emailSettings, setEmailBody } from '../events/email.js';
import { define } from './operation.js';

const answer = { auth: 'bearer', scope: 'login', status: 200, response: emailSettings } as const;

/** Operations of the e-mail address that hears of events. */
export const emailOperations = {
  getEmail: define({
    id: 'getEmail',
    method: 'GET',
    path: '/v1/email',
    summary: 'The e-mail address that hears of events of the wallet',
    ...answer,
  }),
  setEmail: define({
    id: 'setEmail',
    method: 'PUT',
    path: '/v1/email',
    summary: 'Have events sent by e-mail; a new address gets a message to confirm it',
    body: setEmailBody,
    ...answer,
  }),
  confirmEmail: define({
    id: 'confirmEmail',
    method: 'POST',
    path: '/v1/email/confirm',
    summary: 'Confirm the e-mail address by the token of its message',
    body: confirmEmailBody,
    ...answer,
  }),
  deleteEmail: define({
    id: 'deleteEmail',
    method: 'DELETE',
    path: '/v1/email',
    summary: 'Remove the e-mail address',
    ...answer,
  }),
};
