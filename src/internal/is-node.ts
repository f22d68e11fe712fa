/**
 * Whether the platform is Node. Bun, Deno and workers have a `process`, too. `navigator` alone does not distinguish them: a library may
 * define it in Node, which has its own since version 21.
 */
export function isNode(): boolean {
  const { process, navigator } = globalThis as {
    process?: NodeJS.Process;
    navigator?: { readonly userAgent?: string };
  };
  const { node, bun, deno }: Partial<NodeJS.ProcessVersions> = process?.versions ?? {};
  return node !== undefined && bun === undefined && deno === undefined && navigator?.userAgent !== 'Cloudflare-Workers';
}
