package postgres

import (
	"context"
	"strings"

	"github.com/moby/moby/client"
)

// ownerLabel marks our containers with the process that owns them.
const ownerLabel = "webhooklab.owner"

// keptName begins the name of a container that LAB_KEEP=1 keeps.
const keptName = "webhooklab-kept-"

// sweepContainers removes the containers whose owner is gone. Where testcontainers' reaper runs
// it has done so already; where it can't, this is what cleans up after a SIGKILL. Faults never
// stop a start; they are said and tried again next time.
func sweepContainers(ctx context.Context, c client.APIClient, say func(string)) {
	ours, err := c.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", ownerLabel),
	})
	if err != nil {
		say("look for containers of dead runs: " + err.Error())
		return
	}
	for _, box := range ours.Items {
		of, known := parseOwner(box.Labels[ownerLabel])
		kept := len(box.Names) > 0 && strings.HasPrefix(box.Names[0], "/"+keptName)
		if !known || kept || !of.gone() {
			continue
		}
		say("removing the container that a dead run left: " + box.ID[:12])
		_, err := c.ContainerRemove(ctx, box.ID, client.ContainerRemoveOptions{
			Force: true, RemoveVolumes: true,
		})
		if err != nil {
			say("remove container " + box.ID[:12] + ": " + err.Error())
		}
	}
}
