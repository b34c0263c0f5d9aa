/** Waits for work, at most this long. Returns undefined if it takes longer; it goes on then. */
export async function within<Result extends NonNullable<unknown>>(
  ms: number,
  work: Promise<Result>,
): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, isOver]);
  } finally {
    clearTimeout(timer);
  }
}
