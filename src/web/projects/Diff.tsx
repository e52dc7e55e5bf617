import { lazy, Suspense } from "react"
import { Waiting } from "../ui/Notes.tsx"
import { hunksOf } from "./hunks.ts"

// The largest part of the page by far: it is fetched with the first diff.
const Hunk = lazy(() => import("./Hunk.tsx"))

/** What would change in a file, line by line. */
export const Diff = ({ diff, name }: { readonly diff: string; readonly name: string }) => (
  <div className="hunks">
    <Suspense fallback={<Waiting what="the changes" />}>
      {hunksOf(diff).map((hunk, index) => (
        <div key={`${hunk.start}`}>
          {index > 0 || hunk.start > 1 ? <div className="hunk-gap">line {hunk.start}</div> : null}
          <Hunk hunk={hunk} label={`Changes of ${name} from line ${hunk.start}`} />
        </div>
      ))}
    </Suspense>
  </div>
)
