package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/locktest/locktest/cluster"
)

// ImageOf is the image that a scenario asks for: the one that it names, or the service's own in the version that it names, or the
// service's own.
func ImageOf(s cluster.Service, image, version string) (string, error) {
	switch {
	case s.Container == nil:
		return "", &cluster.Error{
			Code:    cluster.CodeUnhostable,
			Message: fmt.Sprintf("%s can't run in containers", s.Name),
			Fix:     []string{"choose another kind of cluster: --on auto"},
		}
	case image != "" && version != "":
		return "", errors.New("cluster.image and cluster.version are both given: an image says its version itself")
	case image != "":
		return image, nil
	case version != "":
		name, _, _ := strings.Cut(s.Container.Image, ":")
		return name + ":" + version, nil
	}
	return s.Container.Image, nil
}

// pullLimit is how long an image may take to come.
const pullLimit = 10 * time.Minute

// haveImage pulls an image that isn't there, once: a registry that can't be reached now can't be in a minute either.
func haveImage(ctx context.Context, api client.APIClient, image string, fix ...string) error {
	_, err := api.ImageInspect(ctx, image)
	if err == nil || !errdefs.IsNotFound(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	if err := pull(ctx, api, image); err != nil {
		return &cluster.Error{
			Code:    cluster.CodeNoImage,
			Message: fmt.Sprintf("image %s isn't there, and can't be had", image),
			Fix:     append(fix, "docker load or docker import brings it from a file"),
			Err:     err,
		}
	}
	return nil
}

func pull(ctx context.Context, api client.APIClient, image string) error {
	var o client.ImagePullOptions
	if _, auth, err := testcontainers.DockerImageAuth(ctx, image); err == nil { // else it is asked for without a name
		if o.RegistryAuth, err = authconfig.Encode(auth); err != nil {
			return err
		}
	}
	p, err := api.ImagePull(ctx, image, o)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Wait(ctx)
}

// haveReaper sees to the image of the library's reaper, which removes the containers of a harness that was killed, where it is to
// run. The library itself would try for a quarter of an hour.
func haveReaper(ctx context.Context, api client.APIClient) error {
	c := testcontainers.ReadConfig()
	if c.RyukDisabled {
		return nil
	}
	image := testcontainers.ReaperDefaultImage
	if prefix := c.Config.HubImageNamePrefix; prefix != "" {
		image = strings.TrimSuffix(prefix, "/") + "/" + image
	}
	return haveImage(ctx, api, image, "TESTCONTAINERS_RYUK_DISABLED=true does without it; locktest removes its containers itself, and locktest doctor --clean those of a run that was killed")
}
