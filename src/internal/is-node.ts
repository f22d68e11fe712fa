/** Whether this is Node. Bun, Deno and workers have a `process`, too. A library may define `navigator` in Node, which has its own since version 21. */
export function isNode(): boolean {
  const { process, navigator } = globalThis as {
    process?: NodeJS.Process;
    navigator?: { readonly userAgent?: string };
  };
  const { node, bun, deno }: Partial<NodeJS.ProcessVersions> = process?.versions ?? {};
  return node !== undefined && bun === undefined && deno === undefined && navigator?.userAgent !== 'Cloudflare-Workers';
}
