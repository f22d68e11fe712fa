/** Whether the host name of a URL is this machine. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\])$/u.test(hostname);
