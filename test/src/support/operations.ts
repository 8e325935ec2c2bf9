import { call, type Answer } from './http.js';
import type { Marketplace } from './marketplace.js';

/** An operation as the marketplace's own OpenAPI document describes it. */
export interface DescribedOperation {
  method: string;
  /** With `{name}` for parameters. */
  path: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** The operations under `/v1`, as everybody can read them. */
export async function operationsOf(marketplace: Marketplace): Promise<DescribedOperation[]> {
  const { body } = await call(marketplace, 'GET', '/openapi.json');
  return Object.entries(body['paths'] as Record<string, object>)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => METHODS.includes(method))
        .map((method) => ({ method: method.toUpperCase(), path })),
    );
}

/** Calls an operation with nothing in it: as far as a request gets before its content is looked at. */
export function requestOf(
  marketplace: Marketplace,
  { method, path }: DescribedOperation,
  token?: string,
): Promise<Answer> {
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
  return call(marketplace, method, path.replaceAll(/\{\w+\}/g, 'nothing-aaaaaa'), { token, ...body });
}
