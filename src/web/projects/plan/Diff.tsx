import { lazy, Suspense } from "react"
import { Boundary } from "../../ui/Boundary.tsx"
import { Waiting } from "../../ui/Notes.tsx"
import { parseHunks } from "./hunks.ts"

// Largest part of the bundle: loaded lazily with the first diff.
const Hunk = lazy(() => import("./Hunk.tsx").then((part) => ({ default: part.Hunk })))

export const Diff = ({ diff, name }: { readonly diff: string; readonly name: string }) => (
  <div className="hunks">
    <Boundary what="This diff">
      <Suspense fallback={<Waiting what="the changes" />}>
        {parseHunks(diff).map((hunk, index) => (
          <div key={`${hunk.start}`}>
            {index > 0 || hunk.start > 1 ? <div className="hunk-gap">line {hunk.start}</div> : null}
            <Hunk hunk={hunk} label={`Changes of ${name} from line ${hunk.start}`} />
          </div>
        ))}
      </Suspense>
    </Boundary>
  </div>
)
