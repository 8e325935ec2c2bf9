import { call, type Answer } from './http.js';
import type { Marketplace } from './marketplace.js';

/** An operation in the marketplace's OpenAPI document. */
export interface DescribedOperation {
  method: string;
  /** With `{name}` for parameters. */
  path: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** The operations under `/v1`, from the public OpenAPI document. */
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

/** Calls an operation with an empty request, which only passes the checks before its content. */
export function requestOf(
  marketplace: Marketplace,
  { method, path }: DescribedOperation,
  token?: string,
): Promise<Answer> {
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
  return call(marketplace, method, path.replaceAll(/\{\w+\}/g, 'nothing-aaaaaa'), { token, ...body });
}
