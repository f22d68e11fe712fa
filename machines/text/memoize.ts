/** Returns a function that computes its value once for each object. The object must not change. */
export function memoize<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, Value>();
  return (key) => {
    if (!values.has(key)) values.set(key, compute(key));
    return values.get(key) as Value;
  };
}
