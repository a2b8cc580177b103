import { useWords } from '../words/words.ts'

/** `312 clicks by 290 people`. */
export function useClicks() {
  const { say } = useWords()
  return ({ clicks, people }: { clicks: number; people: number }) =>
    clicks === 0
      ? say('dispatch.clicks.none')
      : say('dispatch.clicks', {
          clicks: say('dispatch.clicks.clicks', { count: clicks }),
          people: say('dispatch.clicks.people', { count: people }),
        })
}
