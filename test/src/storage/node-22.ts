/** Adds what Helia, which is written for Node 22, needs of it and Node 20 lacks. */
export function addWhatNode20Lacks(): void {
  if ('withResolvers' in Promise) return;
  Object.defineProperty(Promise, 'withResolvers', {
    value: () => {
      let settle = {};
      const promise = new Promise((resolve, reject) => (settle = { resolve, reject }));
      return { promise, ...settle };
    },
  });
}
