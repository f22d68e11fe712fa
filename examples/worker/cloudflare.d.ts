/** What the examples use of Cloudflare's types, which `wrangler types` generates in your project. */
declare module 'cloudflare:workers' {
  export class DurableObject {
    readonly ctx: { readonly storage: import('postchain/cloudflare').ObjectStorage };
  }
}
