import { register } from 'node:module';

/** Lets a program that needs `globSync` of Node.js 22 start on Node.js 20; it finds no files. */
const fs = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];";
const shim = `data:text/javascript,${encodeURIComponent(fs)}`;
const hook = `export const resolve = (specifier, context, next) =>
  specifier === 'fs' && context.parentURL.includes('/conformance/')
    ? { url: ${JSON.stringify(shim)}, shortCircuit: true }
    : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
